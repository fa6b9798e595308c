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
  alice('attest a.bin --nonce abcd --bound-to b.pem', /'--bound-to <FILE>' cannot be used with/, undefined, /--help$/),
  carol('review Open --file a.csv --unbound', /'--file <FILE>' cannot be used with option '--unbound'/, undefined, /--help$/),
  // names
  alice('check Nowhere', /no computation named "Nowhere"/, /The domain d1 has/, /^cms computation list$/),
  alice('check Opne', /no computation named "Opne"/, /Did you mean "Open"/, /^cms computation list$/),
  alice('check Twin', /Several computations are named "Twin"/, /Use an identifier:\n +\S{36} of alice/, /^cms computation list$/),
  alice('check 00000000-0000-8000-8000-000000000000', /No such computation/, /deleted|domain|such/, /^cms computation list$/),
  alice('asset show nothing.csv', /no asset named "nothing.csv"/, /The domain d1 has/, /^cms asset list$/),
  alice('cvm show nothing', /No such registered CVM/, undefined, /^cms cvm list$/),
  alice('find "falls 496"', /Nothing found/, /beginnings of words/, /^cms computation list$/),
  alice('find "2026 site 496"', /Nothing found/, /beginnings of words/, /^cms computation list$/),
  alice('find 00000000-01f3', /Nothing found/, /first 18 characters/, /^cms computation list$/),
  // who and where
  alice('todo --domain nowhere', /may not do this/, /no role/, /^cms login --local .*--role administrator$/),
  alice('todo --domain "a b"', /The domain/, /Expected/, /--help$/),
  alice(
    'todo --server http://127.0.0.1:9',
    /not logged in to http:\/\/127\.0\.0\.1:9/,
    /Your login is for/,
    /^cms login --local/,
  ),
  alice('todo --profile nobody', /not logged in/, /in the profile nobody/, /^cms login .*--profile nobody/),
  carol('computation create Mine', /carol may not/, /Requires/, /^cms (login|whoami)/),
  bob('computation update Open --name Mine', /bob may not/, /Requires|owner/, /^cms (login|whoami)/),
  carol('asset download penguins.csv --output copy.csv', /carol may not/, /Only bob gets the content/, /^cms /),
  alice('run Open --cvm "a b"', /--cvm/, /Expected/, /--help$/),
  // keys
  alice('key upload penguins.csv Open', /penguins\.csv/, /key/i, /^cms key upload --help$/),
  alice('key upload alice.key Open', /alice\.key/, /private key/, /^cms key upload alice\.key\.pub Open$/),
  alice('key upload nothing.pub Open', /There is no file "nothing\.pub"/, undefined, /^ls /),
  alice('key create alice.key', /There is a file "alice\.key" already/, /no key is replaced/, /^cms key add alice\.key\.pub$/),
  bob('approve Study --sign penguins.csv --yes', /not a supported private key/, /Expected Ed25519, EC or RSA/, /--help$/),
  bob('approve Study --sign bob.key.pub --yes', /is a public key/, /Sign with its private key/, /^ls /),
  bob(
    'approve Study --sign alice.key --yes',
    /This key is SHA256:\S{43}\. You uploaded SHA256:\S{43}\./,
    /Choose that one, or replace your key/,
    /^cms key upload alice\.key\.pub Study$|^cms key upload alice\.key\.pub \S{36}$/,
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
    /which is [0-9a-f]{64}/,
    /^cms manifest/,
  ),
  carol('approve Open --yes', /carol may not/, /Requires|part/, /^cms (login|whoami)/),
  bob('refuse Study', /--reason/, undefined, /^cms refuse --help$/),
  bob('refuse Study --reason " "', /--reason|reason/, /visible/, /--help$/),
  alice('computation update Study --approval none', /approval/, /raised|lower/, /^cms /),
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
  alice('asset link second.py Study', /algorithm/, /already|one/, /^cms computation show \S{36}$/),
  alice('asset add https://example.com/a.csv --type dataset --checksum zz', /checksum/, /Expected/, /--help$/),
  alice('asset delete penguin-sizes.py', /Cannot ask for confirmation/, /not a terminal/, /--yes$/),
  alice('verify penguins.csv --keys penguins.csv', /not JSON/, /expected a file that cms or the console saved/, /^ls /),
  alice('verify nowhere', /There is no "nowhere"/, undefined, /^ls /),
  // the file of the parties
  alice('init', /Name the file of the collaboration/, undefined, /^cms init collaboration\.yaml$/),
  alice('init none.yaml', /There is no file "none\.yaml"/, undefined, /^cms init --example > none\.yaml$/),
  alice('init broken.yaml', /broken\.yaml:\d+:\d+/, /not YAML/, /^cms init --example$/),
  alice('init unknown.yaml', /unknown\.yaml:\d+:\d+/, /Unknown field colour/, /^cms init --example$/),
  alice('init --example collaboration.yaml', /takes no FILE/, /prints to standard output/, /^cms init collaboration\.yaml$/),
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
    /measurement: it is [0-9a-f]{96}, the policy allows (?:cd){48}/,
    /^cms cvm show sim-attested-1$/,
  ),
  alice(
    'check Attested',
    /lacks nothing but a machine/,
    /Waiting for a machine:\n[^]*it is\s+[0-9a-f]{8}…, the policy\s+allows cdcdcdcd…/,
    /^cms cvm list$/,
  ),
  alice('run Attested --cvm never-seen', /does not satisfy the attestation policy/, /not registered/, /^cms cvm list$/),
  alice('cvm show plain-1 --policy', /No policy can be made from plain-1/, /It has no attestation/, /^cms cvm show plain-1$/),
  // runs
  alice('run Open --cvm sim-fail-1 --watch', /The run has failed/, /Likely the algorithm/, /^cms events/),
  alice('run Open --cvm sim-reject-1 --watch', /The CVM rejected the run/, /did not begin the algorithm/, /^cms events/),
  alice(
    'logs Open',
    /The logs of this run are not shared/,
    /`log_access` is `none`.*\n?.*cms computation update \S{36} --log-access parties/s,
    /^cms computation show \S{36}$/,
  ),
  alice('stop Open', /no run|nothing|not running/i, undefined, /^cms computation show \S{36}$/),
  alice('watch Study', /was never run/, undefined, /^cms run .*--cvm sim-1$/),
];
