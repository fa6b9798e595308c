/** Keys that ssh-keygen 9.2 created (`ssh-keygen -t ...`), with the fingerprints that `ssh-keygen -lf` prints. */
export const opensshKeys = [
  {
    algorithm: 'rsa',
    fingerprint: 'SHA256:sO70P90g99FuRTfiEpEmXwTdYrPRs2yqG4MKwrz1/VM',
    line: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC123rPP20r9r8O8Y2mHGz0X3YejI2Ioql/woDLYJl9xa/BeHJc66DxyIW4NnEaAJgwTANwaTzUzJfafs3gUwNrFUhR1WItftzx1cu1lQ7PL92RYvxSeB+lvHvropjZsN6Esyk5ge1oG378+Hvj6KQeN/qAY3CcgYIlNgfEwVs35Dl/9PNq+TUQjaUriABDikLDU4Mvg4eHae6p/6n90D4rm6O5y6oPqGsv9EQhTZGwr+eZ4QFIORgez0G3XAn+NoChEJBm5wLMXzF4FVeJXYNLBuYSPrQMmJtzo4Mae2K7rvbUkZUUsPsIINBbg+o3KjgpsDMLGowNyUqAVHlznjLZ test@example.org',
  },
  {
    algorithm: 'ecdsa',
    fingerprint: 'SHA256:aD3+/1Ac268PpLgGnRdfRHAACdyMMHl+5hCdEkJoaKc',
    line: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHEYfUQf37H5HHnpknOpnxQHARWBzLQ2cACvnLJ6jS4PaZuvg63dUQm3R5W5DAo3DVTG6Nl/W8Lb0Hr5bSfGX3w= test@example.org',
  },
  {
    algorithm: 'ecdsa',
    fingerprint: 'SHA256:Hm+PzOfebrYzBHuVnlWxkA22ZNuB0C67z8vncnFMi54',
    line: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBEdWTImFyojA/k+B1cfwR0y5ihAA+C9nB2iX5pLDH3rnOJ3RxJnc0uchHWak17nhD8+E9Qtp63kOYmcvJUoEvCuW1ZLsyElsBf3XdZtR1LKoseej4TIlWLRm1qiTaSQhrw== test@example.org',
  },
  {
    algorithm: 'ecdsa',
    fingerprint: 'SHA256:0lTu1ZBBK69jjfqmx+Ze8F8UIfYWNqjhVFYtByGIe9w',
    line: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAHyQJ3aFaupBwmb5O7jKlXZ+cM1xj9hiG/McpMKNJs5FPmuRznhnCIj2BiPH13RXdg+l7PUdgbWnNgESktt+5E23gC5YmZefTqq4RkwmjQL/vk+t4AdjsWQWAsO1MQZl7U9bKSAH+DNg/GwTZyR5E3/3gUtKB2Yho5VW6w97OaTtvQJZA== test@example.org',
  },
  {
    algorithm: 'ed25519',
    fingerprint: 'SHA256:u33YupnR/DUTpiV43Y/m2Ut0YWIRQ0paJh66noRPHQw',
    line: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILSJ3zKfvt+TJMbcM4Kk/7nVJLQQTjrg4B//rTNKG+d9 test@example.org',
  },
];

/** A self-signed certificate (`openssl req -x509 -newkey ed25519`). */
export const certificatePem = `-----BEGIN CERTIFICATE-----
MIIBQjCB9aADAgECAhR5hIHdae1aWnJ0EVJYpbAtSs71eTAFBgMrZXAwFjEUMBIG
A1UEAwwLZXhhbXBsZS5vcmcwIBcNMjYxMTIxMDM1NjA2WhgPMjEyNjEwMjgwMzU2
MDZaMBYxFDASBgNVBAMMC2V4YW1wbGUub3JnMCowBQYDK2VwAyEAoCMikIThZVCB
Otj/PHw/EDC5eKzEkdMqND7wtGytXGqjUzBRMB0GA1UdDgQWBBT3f8dZkCqwZtYc
YnM38bnbSGp6CTAfBgNVHSMEGDAWgBT3f8dZkCqwZtYcYnM38bnbSGp6CTAPBgNV
HRMBAf8EBTADAQH/MAUGAytlcANBAOiePEUgrlVwekIcg/w/+WG5Hwdu8mPxFK8O
kyflqkSDlzJY8jwgl7wUI3m2seu7tds/cEr1J+0ftB7aV+MzdQ4=
-----END CERTIFICATE-----
`;
