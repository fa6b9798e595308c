/** A mistake that somebody makes with `cms`, and the phrases that tell what is wrong, why, and what to type next. */
export interface Mistake {
  who: 'alice' | 'bob' | 'carol';
  /** The command line behind `cms`, with words of several parts in quotes. */
  line: string;
  what: RegExp;
  /** Undefined: the sentence about what is wrong says it all. */
  why: RegExp | undefined;
  /** The command after `Next: `. */
  next: RegExp;
}

const of =
  (who: Mistake['who']) =>
  (line: string, what: RegExp, why: RegExp | undefined, next: RegExp): Mistake => ({ who, line, what, why, next });
const [alice, bob, carol] = [of('alice'), of('bob'), of('carol')];

/**
 * The mistakes. `Open` is a computation of alice that is ready, `Study` one that demands signed approvals, with data of bob, `Attested` one
 * whose policy no machine satisfies, and `Twin` the name of two. carol only looks.
 */
export const mistakes: readonly Mistake[] = [
  // command lines
  alice('runn Open --cvm sim-1', /Unknown command 'runn'/, /Did you mean one of run, runs/, /^cms --help$/),
  alice('run Open --cmv sim-1', /Unknown option '--cmv'/, /Did you mean --cvm/, /^cms run --help$/),
  alice('run Open', /Missing option --cvm/, /choose the CVM/, /^cms run Open --cvm sim-1$/),
  alice('computation list --status done', /'done' is invalid/, /Allowed choices are created/, /--help$/),
  alice('computation list --limit 0', /'0' is invalid/, /Expected a whole number from 1/, /--help$/),
  alice('computation update Open', /Nothing to change/, /give an option/, /^cms computation update --help$/),
  alice('computation update Open --name ""', /'' is invalid/, /not empty/, /--help$/),
  alice('computation create', /Missing required argument 'NAME'/i, undefined, /^cms computation create --help$/),
  alice('help sing', /Unknown command 'sing'/, undefined, /^cms --help$/),
  alice('attest --nonce abcd', /--nonce and --bound-to are for saved evidence/, /give its file too/, /^cms attest --help$/),
  alice(
    'attest a.bin --nonce abcd --bound-to b.pem',
    /'--bound-to <FILE>' cannot be used with option '--nonce <HEX>'/,
    /Give one of them:\n {2}--nonce <HEX>: the nonce that saved evidence must contain, .*\n {2}--bound-to <FILE>: the certificate whose hash saved/,
    /^cms attest --help$/,
  ),
  carol(
    'review Open --file a.csv --unbound',
    /'--file <FILE>' cannot be used with option '--unbound'/,
    /Give one of them:\n {2}--file <FILE>: the result, if you have it: no agent is asked then\n {2}--unbound: accept any agent/,
    /^cms review --help$/,
  ),
  // names
  alice('check Nowhere', /no computation named "Nowhere"/, /The domain d1 has/, /^cms computation list$/),
  alice('check Opne', /no computation named "Opne"/, /Did you mean "Open"/, /^cms computation list$/),
  alice('check Twin', /Several computations are named "Twin"/, /Use an identifier:\n +\S{36} of alice/, /^cms computation list$/),
  alice('check 00000000-0000-8000-8000-000000000000', /No such computation/, /deleted|domain|such/, /^cms computation list$/),
  alice('asset show nothing.csv', /no asset named "nothing.csv"/, /The domain d1 has/, /^cms asset list$/),
  alice('cvm show nothing', /No such registered CVM/, undefined, /^cms cvm list$/),
  alice('find "falls 496"', /Nothing found/, /Each word must begin a word of the name/, /^cms computation list$/),
  alice('find "2026 site 496"', /Nothing found/, /Each word must begin a word of the name/, /^cms computation list$/),
  alice('find 00000000-01f3', /Nothing found/, /first 18 characters/, /^cms computation list$/),
  // who and where
  alice(
    'todo --domain nowhere',
    /alice may not do this/,
    /no role in the domain nowhere\. Check the name of the domain, or ask an administrator of it/,
    /^cms whoami --domain nowhere$/,
  ),
  alice('todo --domain "a b"', /The domain/, /Expected/, /--help$/),
  alice(
    'todo --server http://127.0.0.1:9',
    /not logged in to http:\/\/127\.0\.0\.1:9/,
    /Your login is for http:\S+\. Log in, or leave out --server\./,
    /^cms login --local --user alice --server http:\/\/127\.0\.0\.1:9$/,
  ),
  alice(
    'todo --profile nobody',
    /not logged in/,
    /in the profile nobody\. Log in, or leave out --profile\./,
    /^cms login --local --user USER .*--profile nobody$/,
  ),
  carol(
    'computation create Mine',
    /carol may not/,
    /Requires .*viewer\. Ask an administrator of the domain for the role creator\. Then log in again\./,
    /^cms login$/,
  ),
  bob(
    'computation update Open --name Mine',
    /bob may not/,
    /Requires .*provider\. Ask its owner, or an administrator of the domain for the role editor\./,
    /^cms computation show \S{36}$/,
  ),
  carol(
    'asset download penguins.csv --output copy.csv',
    /carol may not/,
    /Only bob gets the content of penguins\.csv\. Ask bob for the file, and compare/,
    /^cms asset show \S{36}$/,
  ),
  alice('run Open --cvm "a b"', /--cvm/, /Expected/, /--help$/),
  // keys
  alice(
    'key upload penguins.csv Open',
    /penguins\.csv: Expected one public key/,
    /If you have none, cms key create makes one/,
    /^cms key upload KEYFILE\.pub Open$/,
  ),
  alice('key upload alice.key Open', /alice\.key/, /private key/, /^cms key upload alice\.key\.pub Open$/),
  alice('key upload nothing.pub Open', /There is no file "nothing\.pub"/, undefined, /^ls /),
  alice(
    'key create alice.key',
    /There is a file "alice\.key" already/,
    /no key is replaced\. Choose another name, or upload this key/,
    /^cms key add alice\.key\.pub$/,
  ),
  bob(
    'approve Study --sign penguins.csv --yes',
    /penguins\.csv is not a private key that cms reads\./,
    /Expected Ed25519, EC or RSA/,
    /^ls \.$/,
  ),
  bob('approve Study --sign bob.key.pub --yes', /is a public key/, /Sign with its private key, bob\.key\./, /^ls \.$/),
  bob(
    'approve Study --sign alice.key --yes',
    /This key is SHA256:\S{43}\. You uploaded SHA256:\S{43}\./,
    /Sign with the private key of that one\. Nothing was sent\./,
    /^cms approve \S{36} --sign KEYFILE$/,
  ),
  bob('approve Study --yes', /signed approvals only/, /You uploaded SHA256:\S{43}/, /^cms approve Study --yes --sign KEYFILE$/),
  // decisions
  bob(
    'approve Study --sign bob.key',
    /Cannot ask for confirmation/,
    /not a terminal/,
    /^cms approve Study --sign bob\.key --yes$/,
  ),
  bob(
    'approve Study --sign bob.key --yes --expires 2020-01-01',
    /2020-01-01 has passed/,
    /clock of the service, where it is 2/,
    /--help$/,
  ),
  bob('approve Study --sign bob.key --yes --expires soon', /'soon' is invalid/, /Expected a moment such as/, /--help$/),
  bob(
    `approve Study --sign bob.key --digest ${'0'.repeat(64)}`,
    /--digest is not the current digest/,
    /has changed since you read it, or the digest is mistyped\. Nothing was approved\.\n(?!.*[0-9a-f]{64})/,
    /^cms check \S{36}$/,
  ),
  carol(
    'approve Open --yes',
    /carol may not/,
    /Requires .*viewer\. No run needs your approval: nothing is left to do\./,
    /^cms approvals \S{36}$/,
  ),
  bob('refuse Study', /--reason/, undefined, /^cms refuse --help$/),
  bob('refuse Study --reason " "', /^--reason:/m, /visible/, /^cms refuse --help$/),
  alice(
    'computation update Study --approval none',
    /^--approval: Expected all_signed: it is all_signed/m,
    /can never be lowered\. For less approval, create another computation\./,
    /^cms computation create NAME$/,
  ),
  alice(
    'run Study --cvm sim-1',
    /not ready/,
    /Approval of bob for penguins\.csv\n +bob types: cms approve/,
    /^cms check \S{36}$/,
  ),
  // files
  alice(
    'asset upload penguin-sizes.py',
    /Choose the type/,
    /--type algorithm or --type dataset/,
    /^cms asset upload penguin-sizes\.py --type algorithm$/,
  ),
  alice(
    'asset upload penguins.csv',
    /Choose the type/,
    /--type algorithm or --type dataset/,
    /^cms asset upload penguins\.csv --type dataset$/,
  ),
  alice('asset upload nofile.csv', /There is no file "nofile\.csv"/, undefined, /^ls /),
  alice('asset upload penguins.csv --type dataset --name a/b', /--name/, /without slashes/, /--help$/),
  alice('asset link second.py Study', /already has an algorithm/, /Unlink it first/, /^cms asset unlink ALGORITHM \S{36}$/),
  alice(
    'asset add https://example.com/a.csv --type dataset --checksum zz',
    /^--checksum:/m,
    /Expected a SHA3-256/,
    /^cms asset add --help$/,
  ),
  alice(
    'asset delete penguin-sizes.py',
    /Cannot ask for confirmation/,
    /^Computations that lose it: 3\.\n {2}"Study" \(\S{36}\)\n[^]*not a terminal/m,
    /^cms asset delete penguin-sizes\.py --yes$/,
  ),
  alice(
    'verify penguins.csv --keys penguins.csv',
    /not JSON/,
    /expected a file that cms evidence or the console saved/,
    /^cms evidence COMPUTATION$/,
  ),
  alice('verify nowhere', /There is no file or folder "nowhere"/, undefined, /^ls /),
  // the file of the parties
  alice('init', /Name the file of the collaboration/, undefined, /^cms init collaboration\.yaml$/),
  alice('init none.yaml', /There is no file "none\.yaml"/, undefined, /^cms init --example > none\.yaml$/),
  alice('init broken.yaml', /broken\.yaml:\d+:\d+/, /not YAML/, /^cms init --example$/),
  alice('init unknown.yaml', /unknown\.yaml:\d+:\d+/, /Unknown field colour/, /^cms init --example$/),
  alice('init --example collaboration.yaml', /takes no FILE/, /prints to standard output/, /^cms init --example$/),
  carol('init collaboration.yaml', /You are carol/, /has the parties alice, bob/, /^cms whoami$/),
  // machines
  alice(
    'computation update Open --attestation-policy platform.yaml',
    /platform\.yaml: platforms:/,
    /Expected one of az-snp-vtpm, az-tdx-vtpm, snp, snp-vtpm, tdx\.\s+For example:/,
    /^cms cvm show CVM --policy$/,
  ),
  alice(
    'computation update Open --attestation-policy lacking.yaml',
    /lacking\.yaml: platforms:/,
    /A value is required\. For example:/,
    /^cms cvm show CVM --policy$/,
  ),
  alice(
    'computation update Open --attestation-policy penguins.csv',
    /penguins\.csv:/,
    /Expected the fields platforms and measurements/,
    /^cms cvm show CVM --policy$/,
  ),
  alice(
    'run Attested --cvm sim-attested-1',
    /does not satisfy the attestation policy/,
    /measurement: it is [0-9a-f]{96}, the policy allows (?:cd){48}\. Choose another CVM, or have the owner change the policy\./,
    /^cms check \S{36}$/,
  ),
  alice(
    'check Attested',
    /lacks nothing but a machine/,
    /No registered CVM can take its run:\n[^]*it is\s+[0-9a-f]{8}…, the policy\s+allows cdcdcdcd…\n[^]*register another/,
    /^cms cvm register CVM$/,
  ),
  alice(
    'run Attested --cvm never-seen',
    /The CVM never-seen is not registered/,
    /so it satisfies no attestation policy\. Check its name/,
    /^cms cvm list$/,
  ),
  alice(
    'cvm show plain-1 --policy',
    /No policy can be made from plain-1/,
    /It has no attestation\. Choose one that is verified\./,
    /^cms cvm list$/,
  ),
  // runs
  alice(
    'run Open --cvm sim-fail-1 --watch',
    /The run has failed/,
    /The CVM failed while it ran the algorithm\. Likely the algorithm[^]* cms computation update \S{36} --log-access parties\n/,
    /^cms computation show \S{36}$/,
  ),
  alice(
    'run Open --cvm sim-reject-1 --watch',
    /The CVM rejected the run/,
    /did not begin the algorithm.*run on another one\.\nNext/,
    /^cms events/,
  ),
  alice(
    'logs Open',
    /The logs of this run are not shared/,
    /`log_access` is `none`.*\n?.*cms computation update \S{36} --log-access parties/s,
    /^cms computation show \S{36}$/,
  ),
  alice('stop Open', /no run|nothing|not running/i, undefined, /^cms computation show \S{36}$/),
  alice('watch Study', /was never run/, undefined, /^cms check \S{36}$/),
];
