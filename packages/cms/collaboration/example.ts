/** What `cms init --example` prints. */
export const exampleCollaboration = `# A computation and what each party brings. Every party runs: cms init FILE.yaml
# Paths are relative to this file. A user is what "cms whoami" prints: a name, or on some stages an identifier.
computation:
  name: Body mass by species
  description: Mean body mass of penguins by species and island
  owner: alice
  # Whose approval a run needs: none, all, or all_signed
  approval: all_signed
  # Who gets the results in addition to the owner. Without this line: every user with the role result_consumer who uploads a key
  consumers: [alice]
  agent_config:
    log_level: info

parties:
  alice:
    key: ~/.ssh/id_ed25519.pub
    assets:
      - file: penguin-sizes.py
        type: algorithm
        mime_type: text/x-python
  bob:
    key: ~/.ssh/id_ed25519.pub
    assets:
      - file: penguins.csv
        type: dataset
        mime_type: text/csv
        # approval: no run uses it without bob's approval. open: every run may use it
        use: approval
        # creator: nobody else gets the content. domain: every member of the domain may download it
        content_access: creator
`;
