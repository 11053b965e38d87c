"""
Write ``secrets_labelled.tsv``: lines with an invented secret, and lines that only look as if they had one.

Every value is drawn by lot from a seeded generator and opens nothing. A secret stands between ``«`` and ``»``, and
a broken bar parts every prefix from its body, so that the scanners of code hosts see no credential. Readers take
these marks out. Run it from anywhere; it writes the same bytes every time::

    python tests/data/make_secrets.py
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path
from random import Random

TARGET = Path(__file__).parent / "secrets_labelled.tsv"
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
BASE32 = string.ascii_uppercase + "234567"

# Kind, then the secret: ``{alphabet:length}`` is drawn by lot.
SHAPES = """
age key|AGE-SECRET-KEY-1¦{upper:58}
aws access key|AKIA¦{base32:16}
aws access key|ASIA¦{base32:16}
github token|ghp_¦{alnum:36}
github token|ghs_¦{alnum:36}
github token|github_pat_¦{alnum:22}_{alnum:59}
gitlab token|glpat-¦{alnum:20}
slack token|xoxb-¦{digit:12}-{digit:12}-{alnum:24}
slack token|xapp-¦1-{upper:11}-{digit:13}-{hex:64}
discord token|M¦{alnum:23}.{alnum:6}.{alnum:38}
stripe key|sk_live_¦{alnum:24}
stripe key|rk_test_¦{alnum:24}
stripe key|whsec_¦{alnum:32}
google api key|AIza¦{alnum:35}
google token|GOCSPX-¦{alnum:28}
google token|ya29.¦{urlsafe:60}x
anthropic key|sk-ant-¦api03-{urlsafe:93}AA
openai key|sk-proj-¦{alnum:48}
openai key|sk-¦{alnum:48}
openrouter key|sk-or-v1-¦{hex:64}
groq key|gsk_¦{alnum:52}
perplexity key|pplx-¦{alnum:48}
replicate token|r8_¦{alnum:37}
hugging face token|hf_¦{letter:34}
npm token|npm_¦{alnum:36}
pypi token|pypi-¦AgEIcHlwaS5vcmc{urlsafe:80}x
rubygems key|rubygems_¦{hex:48}
docker token|dckr_pat_¦{alnum:27}
sendgrid key|SG.¦{alnum:22}.{alnum:43}
mailgun key|key-¦{hex:32}
mailchimp key|{hex:32}¦-us14
twilio key|SK¦{hex:32}
telegram token|{digit1:10}:¦AA{alnum:33}
digitalocean token|dop_v1_¦{hex:64}
shopify token|shpat_¦{hex:32}
square token|sq0atp-¦{alnum:22}
databricks token|dapi¦{hex:32}
linear key|lin_api_¦{alnum:40}
notion token|ntn_¦{alnum:46}
figma token|figd_¦{alnum:40}
airtable token|pat¦{alnum:14}.{hex:64}
atlassian token|ATATT3¦xFfGF0{alnum:80}
grafana token|glsa_¦{alnum:32}_{hex:8}
new relic key|NRAK-¦{upper:27}
vault token|hvs.¦{alnum:90}
terraform token|{alnum:14}¦.atlasv1.{alnum:67}
doppler token|dp.pt.¦{alnum:43}
postman key|PMAK-¦{hex:24}-{hex:34}
pulumi token|pul-¦{hex:40}
supabase key|sbp_¦{hex:40}
planetscale token|pscale_tkn_¦{alnum:43}
tailscale key|tskey-¦auth-{alnum:12}-{alnum:32}
jwt|eyJ¦{alnum:33}.eyJ¦{alnum:70}.{urlsafe:42}x
""".strip().splitlines()

SURROUNDINGS = """
the deploy failed until I put @ into the CI settings
curl -H "X-Api: @" https://api.example.org/v2/items
Nora pasted @, rotate it today
""".strip().splitlines()

# Lines with a secret that only its place gives away: ``{...}`` as above, marks as in the file.
IN_PLACE = """
password|DATABASE_URL=postgres://app:«{alnum:14}»@db.internal:5432/app
password|redis://:«{alnum:24}»@cache:6379/0
password|connected with mysql://root:«{letter:6}!{digit:3}»@127.0.0.1/shop
password|amqp://worker:«{alnum:12}»@mq.example.org:5671/%2f is the broker
password|git clone https://ida:«{alnum:20}»@git.example.org/tools.git
password|mongodb+srv://admin:«{alnum:16}»@cluster0.example.net/test?retryWrites=true
password|Server=sql1;Database=shop;User Id=sa;Password=«{letter:5}#{digit:4}»;Encrypt=true
password|password = "«{letter:8}{digit:3}»"
password|DB_PASSWORD=«{alnum:18}»
password|POSTGRES_PASSWORD: «{letter:6}-{digit:4}-{letter:5}»
password|smtp_password: '«{letter:4}${digit:5}»'
password|  "password": "«{alnum:10}»",
password|the wifi password is «{letter:5}{digit:4}» since Monday
password|Passwort: «{letter:7}{digit:2}!»
password|contraseña: «{letter:6}{digit:4}»
password|mot de passe : «{letter:6}{digit:4}»
password|ADMIN_PASSWORD=«{lower:14}»
password|$env:SMTP_PASSWORD = "«{alnum:16}»"
password|passphrase: "«{letter:6}.{letter:6}.{digit:3}»"
password|sshpass -p '«{letter:6}%{digit:4}»' ssh root@nas
password|mysqldump --password=«{alnum:13}» shop > shop.sql
password|curl -u nora:«{alnum:16}» https://dav.example.org/
password|machine git.example.org login nora password «{alnum:20}»
password|user=ida password=«{letter:6}{digit:3}» host=db1 dbname=shop
password|root_pwd := "«{alnum:12}»"
secret|SECRET_KEY = '«{urlsafe:49}x»'
secret|JWT_SECRET=«{hex:64}»
secret|client_secret: «{alnum:40}»
secret|aws_secret_access_key = «{alnum:20}¦{alnum:20}»
secret|AWS_SECRET_ACCESS_KEY=«{alnum:10}¦/{alnum:29}»
secret|api_key: "«{alnum:32}»"
secret|export WEATHER_API_KEY=«{hex:32}»
secret|"apiKey": "«{alnum:39}»"
secret|const apiKey = '«{alnum:28}'»
secret|x-api-key: «{alnum:40}»
secret|access_token=«{alnum:64}»
secret|refresh_token: «{alnum:80}»
secret|session_secret = "«{hex:40}»"
secret|HEROKU_API_KEY=«{uuid}»
secret|cookie_salt: «{alnum:32}»
secret|webhook_secret=«{hex:48}»
secret|ENCRYPTION_KEY=«{alnum:43}=»
secret|the API key is «{alnum:32}», valid until May
secret|private_key: "«{alnum:64}»"
secret|{{"token": "«{alnum:36}»"}}
authorization|Authorization: Bearer «{alnum:40}»
authorization|-H 'Authorization: Basic «{alnum:28}=='»
authorization|headers = {{"Authorization": "Bearer «{urlsafe:60}x»"}}
azure storage key|DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=«{alnum:86}==»;EndpointSuffix=core.windows.net
slack webhook|posts to https://hooks.slack.com/«services/T{upper:8}/¦B{upper:8}/{alnum:24}»
discord webhook|https://discord.com/api/webhooks/«{digit1:18}/¦{alnum:68}»
signed url|https://shop.blob.core.windows.net/in/a.csv?sp=r&sig=«{alnum:43}%3D»
private key|-----BEGIN ¦RSA PRIVATE KEY-----
private key|-----BEGIN ¦OPENSSH PRIVATE KEY-----
private key|-----BEGIN ¦PGP PRIVATE KEY BLOCK-----
""".strip().splitlines()

# Lines without any secret. Hand-written; values drawn by lot where a hash, a UUID or the like is needed.
CLEAN = """
commit {hex:40}
git cherry-pick {hex:12} onto the release branch
Merge {hex:7} into main
sha256:{hex:64}  clawmem-0.3.0.tar.gz
{hex:64}  model.onnx
md5 of the dump: {hex:32}
etag: "{hex:32}"
request id {uuid}
document {uuid} was moved
idempotency-key: {uuid}
trace_id={hex:32} span_id={hex:16}
canonical id {hex:16}
container {hex:12} exited with 137
image@sha256:{hex:64}
"integrity": "sha512-{alnum:86}=="
--hash=sha256:{hex:64} \\
ISBN 978-3-16-148410-0
ISBN 9780306406157 is on the shelf
phone +49 170 1234567
IMEI 352099001761481
order 4929 1182 from March
tracking number 00340434161094042557
epoch 1760000000000 is in milliseconds
timestamp 1700000000123456
build 2026030112345678
account 12345678 at the savings bank
version 4.14.1592.65358
ticket 4111 and ticket 5222
0x4f3c2b1a9d8e7f60
invoice 2026-0004-1177
row 3141592653589793
the sum is 4000000000000000 femtoseconds
password = "YOUR_PASSWORD"
api_key = "YOUR_API_KEY"
API_KEY=your-api-key-here
token: <your token>
token = "xxxxxxxxxxxxxxxxxxxx"
password: ********
password: ${{DB_PASSWORD}}
password = os.environ["DB_PASSWORD"]
password = getpass()
password = config.get("password")
secret = settings.SECRET_KEY
token = request.headers["X-Token"]
token = get_token(user)
const token = await getToken();
apiKey: process.env.API_KEY
api_key=$API_KEY
export TOKEN=$(cat token.txt)
password: str
password: string;
password: Optional[str] = None
def login(user: str, password: str) -> Token:
class PasswordField(forms.CharField):
self.password = password
password=password,
passwords are hashed with argon2
the password is required
the password is wrong
password: required
Password: (hidden)
forgot password? reset it by mail
the token is expired
token: expired
max_tokens: 4096
max_tokens=2048, temperature=0.3
token_count = 17
tokens: 128000
tokens per second: 42.5
token_type = "bearer"
token_url = "https://auth.example.org/oauth/token"
tokenizer: cl100k_base
tokenizer_file = tokenizer.json
secret_name: db-credentials
secretKeyRef: shop-secrets
secrets: inherit
client_secret_file = /run/secrets/client_secret
password_file: /run/secrets/db_password
PASSWORD_MIN_LENGTH = 12
password_hash = argon2id
key: value
key = sorted(items, key=len)
primary_key=True
foreign_key = "documents.id"
sort_key: created_at
cache_key = f"doc:{{doc_id}}"
public_key = ssh-ed25519
keyboard: de-latin1
monkey = "Bobo"
api_key: Optional[SecretStr]
api_key_header = "X-Api-Key"
access_key_id is in the profile
auth_token_expiry = 3600
--token TOKEN  the bearer token (env CLAWMEM_TOKEN)
--password PASSWORD  asks when it is missing
usage: login [--password-file PATH]
sk-learn is not a key
sk-toggleable__content fades in
task-force-delta-one-is-ready-for-the-big-launch
sk_live_ and sk_test_ are the prefixes of stripe
ghp_ tokens are forty characters long
AKIA is the prefix of long-lived keys
AKIAIOSFODNN7¦EXAMPLE
ghp_¦xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
the hf_hub_download function takes a repo id
npm_config_cache=/tmp/npm
npm_package_version is set by npm run
key-value-stores-and-their-trade-offs
pypi-attestations is a package
xoxo-gossip-girl-was-here
SKIP the rest
SK1234 is the flight to Oslo
pat.smith@example.org
AIzawa is a family name
glpat is the gitlab prefix
eyJ is how every JWT begins
a JWT has three parts: header.payload.signature
Bearer tokens are sent in the Authorization header
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Basic base64(user:password)
bearer of bad news
basic authentication is off
postgres://localhost:5432/app
postgres://user:password@localhost/app
postgres://user:${{PASSWORD}}@db/app
https://example.org:8443/path@v2
https://user@example.org/
http://localhost:7438/health
ssh://git@example.org:22/tools.git
mailto:nora@example.org
git@github.com:org/repo.git
redis://cache:6379/0
see https://example.org/a?page=2&sort=asc
https://example.org/reset?lang=en&theme=dark
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
the file begins with BEGIN PRIVATE KEY
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum:43} nora@laptop
fingerprint SHA256:{alnum:43}
data:image/png;base64,iVBORw0KGgo{alnum:40}
nonce-{alnum:16} in the CSP header
class="css-{alnum:8}"
/assets/index-{alnum:8}.js
node_modules/.cache/{hex:20}
{hex:8}.chunk.js
docid {hex:6}
color: #{hex:6}
mac 00:1a:2b:3c:4d:5e
ipv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334
lat 52.5200066, lon 13.4049540
handleAuthenticationTokenRefreshForExpiredSessions()
SOME_VERY_LONG_CONSTANT_NAME_FOR_TESTING_2
test_that_the_password_is_never_logged
calculate_secret_sharing_threshold(5, 3)
TokenBucketRateLimiter(rate=10, burst=20)
from secrets import token_urlsafe
import getpass
assert user.password != "hunter"
if token is None: raise Unauthorized
return {{"token": token}}
"password": {{"type": "string"}}
password TEXT NOT NULL
token VARCHAR(64)
api_key BYTEA
ALTER TABLE users DROP COLUMN password;
SELECT token FROM sessions WHERE id = ?
der Schlüssel ist unter der Matte
das Passwort ist falsch
la clave está en el cajón
le mot de passe est oublié
credentials: include
credentials: 'same-origin'
credentials = load_credentials(path)
salt: to taste
salt = os.urandom(16)
salt and pepper
key: Ctrl+Shift+P
the key is on the hook
key insight: fewer writes
license key dialog has a typo
API key rotation is due in March
"apiKey": "string"
api_key=None
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=
ANTHROPIC_API_KEY="<paste here>"
GITHUB_TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}}
token: ${{{{ github.token }}}}
DB_PASSWORD=changeme
password=example
secret: dummy
token=undefined
token: null
pwd: /home/nora/src
PWD=/home/nora/src/app
OLDPWD=/tmp
passwd: password updated successfully
cat /etc/passwd
pass: 12, fail: 0
passed: 311 tests
PASSWORD_HASHERS = [Argon2PasswordHasher]
compass: 240 degrees
Model B2 costs 4242 euros
sample card 4111 1111 1111 1112 fails the check
card ending in 4242
1234 5678 9012 3456 has no issuer
""".strip().splitlines()


def drawn(chance: Random, shape: str) -> str:
    """*shape* with every ``{alphabet:length}`` drawn by lot."""
    alphabets = {
        "hex": HEX,
        "alnum": ALNUM,
        "urlsafe": URLSAFE,
        "upper": string.ascii_uppercase + string.digits,
        "base32": BASE32,
        "letter": string.ascii_letters,
        "lower": string.ascii_lowercase,
        "digit": string.digits,
        "digit1": "123456789",
    }
    parts = shape.replace("{{", "\0").replace("}}", "\1").split("{")
    line = parts[0]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        line += _value(chance, name, alphabets) + rest
    return line.replace("\0", "{").replace("\1", "}")


def _value(chance: Random, name: str, alphabets: dict[str, str]) -> str:
    alphabet, _, length = name.partition(":")
    if alphabet == "uuid":
        return "-".join("".join(chance.choices(HEX, k=k)) for k in (8, 4, 4, 4, 12))
    return "".join(chance.choices(alphabets[alphabet], k=int(length)))


def card(chance: Random, gap: str) -> str:
    """An invented number of sixteen digits with its check digit, in fours."""
    digits = "4" + "".join(chance.choices(string.digits, k=14))
    check = next(last for last in string.digits if _sums_to_ten(digits + last))
    whole = digits + check
    return "¦".join(whole[i : i + 4] + (gap if i < 12 else "") for i in range(0, 16, 4))


def _sums_to_ten(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(int(digit) for digit in digits[::-2])) % 10 == 0


def lines(chance: Random) -> Iterator[tuple[str, str]]:
    """Kind and line, ``-`` for a line without a secret."""
    for shape in SHAPES:
        kind, secret = shape.split("|")
        for surrounding in SURROUNDINGS:
            yield kind, surrounding.replace("@", f"«{drawn(chance, secret)}»", 1)
    for shape in IN_PLACE:
        kind, line = shape.split("|", 1)
        if kind == "private key":
            body = "\\n".join("".join(chance.choices(ALNUM + "+/", k=64)) for _ in range(4))
            name = line.removeprefix("-----BEGIN ¦")
            yield kind, f"key: «{line}\\n{body}\\n-----END ¦{name}» and more"
        else:
            yield kind, drawn(chance, line.replace("'»", "»'"))
    for line in ("card «@» expired", "the visa «@» expires in May", "paid with «@», the company card"):
        for gap in ("", " ", "-"):
            yield "card number", line.replace("@", card(chance, gap))
    for line in CLEAN:
        yield "-", drawn(chance, line)


def main() -> None:
    """Write the file."""
    rows = [f"{kind}\t{line}" for kind, line in lines(Random(20260301))]
    TARGET.write_text("\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
