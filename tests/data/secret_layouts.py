"""Tables, lists, headings and short dialogues in which a label tells whether the value is a secret, drawn by lot."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

# Label of a secret, then the kinds of its value.
_SECRETS = """
code|pin;door code|pin;gate code|pin;entry code|pin;access code|pin;alarm code|pin;code of the alarm|pin;unlock code|pin;keypad|pin;lock code|pin;combination|pin;lock combination|pin;numbers to dial|pin;digits|pin
PIN|pin;pin code|pin;card PIN|pin;SIM PIN|pin;PUK|{digit:8};service PIN|pin;voicemail PIN|pin;phone PIN|pin;host key|{digit:6};passcode|pin;meeting passcode|{digit:6};moderator PIN|{digit:6};screen lock|{digit:6}
opens with|pin;unlock with|pin;what to press|pin;what to type|pass;type this|pass;enter|pin;secret number|pin;verification code|{digit:6};one-time code|{digit:6};backup code|{digit:8};recovery code|{alnum:5}-{alnum:5}
password|pass;Password|pass;passwd|pass;pass|pass;pw|pass;PW|pass;pwd|pass;login password|pass;admin password|pass;root password|pass;wifi password|pass;web banking password|pass;start password|pass;initial password|pass
Wi-Fi key|pass;wifi key|pass;network key|pass;WPA key|pass;preshared key|pass;passphrase|phrase;encryption passphrase|phrase;master password|phrase;secret|pass;shared secret|token;client secret|token;signing secret|token
API key|token;api token|token;token|token;access token|token;deploy key|token;stream key|{lower:4}-{lower:4}-{lower:4}-{lower:4};license key|{upper:5}-{upper:5}-{upper:5}-{upper:5};secret key|token;app password|{lower:16};credential|pass
Code|pin;Türcode|pin;Torcode|pin;Geheimzahl|pin;Geheimnummer|pin;Zahlenkombination|pin;Kombination|pin;Zahl am Schloss|pin;Ziffern|pin;PIN|pin;Karten-PIN|pin;Zugangscode|pin;Alarmcode|pin;Sperrcode|pin;Öffnet mit|pin
Passwort|pass;Kennwort|pass;WLAN-Schlüssel|pass;Netzwerkschlüssel|pass;Zugangspasswort|pass;Losung|phrase;API-Schlüssel|token;Zugangstoken|token;Startkennwort|pass;Wiederherstellungscode|{digit:8};Codewort|{word}{digit:2}
code secret|pin;code d'entrée|pin;code du portail|pin;combinaison|pin;chiffres|pin;code PIN|pin;mot de passe|pass;mdp|pass;clé wifi|pass;clé API|token;phrase secrète|phrase;digicode|pin
código|pin;número secreto|pin;clave de la puerta|pin;combinación|pin;cifras|pin;contraseña|pass;clave|pass;clave wifi|pass;clave de API|token;frase secreta|phrase
codice|pin;numero segreto|pin;combinazione|pin;cifre|pin;codice porta|pin;parola d'ordine|pass;chiave wifi|pass;chiave API|token;password|pass
toegangscode|pin;geheime code|pin;cijfers|pin;cijferslot|pin;wachtwoord|pass;wifi-sleutel|pass;senha|pass;código secreto|pin;palavra-passe|pass
""".strip()

_HARMLESS = """
room|{digit:3};Room|{digit:4};price|{digit:4};Price|1{digit:3};year|20{digit:2};built|19{digit:2};model|thing;Model|thing;serial|{upper:10};Serial number|{digit:8};commit|{hex:7};revision|{hex:40};checksum|{hex:64};version|2.{digit:1}.{digit:2}
order|order;Order no.|order;invoice|2026-{digit:4};phone|0171 {digit:7};Phone|+44 20 7946 0{digit:3};extension|{digit:4};postcode|{digit:5};zip code|{digit:5};error code|{digit:4};country code|00{digit:2};area code|0{digit:4};article|{digit:6}
width|{digit:4};Height|2{digit:3};weight|1{digit:3};size|{digit:2}x{digit:3};port|8{digit:3};VLAN|1{digit:3};address|10.0.{digit:2}.{digit:2};host|nas{digit:1}.lan;id|{uuid};customer|{digit:8};member number|{digit:7};contract|{digit:8}
meter|{digit:5};reading|{digit:6};steps|{digit:5};visitors|{digit:4};total|1{digit:3};hours|1{digit:3};page|1{digit:2};flight|LH{digit:4};train|RE{digit:4};seat|{digit:2}C;tracking|{digit:14};booking|{upper:6};ISBN|978-3-16-{digit:6}-0
since|20{digit:2};date|2026-03-{digit:2};from|1{digit:1}:30;installed|12.05.20{digit:2};changed on|03-{digit:2}-26;firmware|7.{digit:2};build|{digit:5};ticket|OPS-{digit:4};issue|#{digit:4};password changed|2026-02-{digit:2}
password length|1{digit:1};password policy|SEC-{digit:3};key size|4096;key id|{hex:8};public key|{alnum:43}=;fingerprint|SHA256:{alnum:43};tokens used|{digit:5};token limit|{digit:6};key number|{digit:4};lock model|thing;code lines|{digit:5}
user|ida{digit:2};login|ida.k;network|Nord5G;SSID|Nordwind-{digit:2};valid until|09/29;IBAN|DE{digit:2} {digit:4} {digit:4} {digit:4};tax number|{digit:2}/{digit:3}/{digit:5};password|(none);password|see vault;PIN|not set;token|$TOKEN;code|ask {name}
Raum|{digit:4};Preis|1{digit:3};Baujahr|19{digit:2};Modell|thing;Seriennummer|{upper:10};Auftrag|order;Telefon|030 {digit:7};Durchwahl|{digit:4};Postleitzahl|{digit:5};Fehlercode|{digit:4};Breite|{digit:4};Zählerstand|{digit:5};Kundennummer|{digit:8}
Stand|2026-03-{digit:2};Hersteller|thing;Vertrag|{digit:8};Seite|1{digit:2};Zug|RE{digit:4};Artikel|{digit:6};Passwort|im Tresor;Passwort geändert|12.03.26;Schlüsselnummer|{digit:4};Betrag|1{digit:3};Kanal|1{digit:2};Anzahl|{digit:4}
prix|1{digit:3};année|19{digit:2};modèle|thing;code postal|{digit:5};téléphone|01 {digit:2} {digit:2} {digit:2} {digit:2};commande|order;largeur|{digit:4};numéro client|{digit:8};compteur|{digit:5};mot de passe|voir coffre
precio|1{digit:3};año|19{digit:2};modelo|thing;código postal|{digit:5};teléfono|91 {digit:3} {digit:4};pedido|order;ancho|{digit:4};cliente|{digit:8};prezzo|1{digit:3};anno|19{digit:2};modello|thing;CAP|{digit:5};ordine|order;contratto|{digit:8}
prijs|1{digit:3};bouwjaar|19{digit:2};postcode|{digit:4} AB;bestelling|order;klantnummer|{digit:8};preço|1{digit:3};ano|19{digit:2};encomenda|order
""".strip()

_OWNERS = """
boiler room;front door;side gate;garage;shed;bike cellar;safe;alarm;locker;lab;archive;office;kitchen;server room;staff entrance;pool;club house;gym;chapel;workshop;bin store;roof;lift;barrier;suitcase;padlock;key box;holiday flat
router;printer;NAS;laptop;tablet;phone;mum's phone;dad;camera;intercom;thermostat;TV;till;copier;server;switch;database;staging;production;backup;wiki;forum;shop;bank;tax portal;school portal;library;Netflix;Spotify;Steam;mail;VPN
ida;Ben;Nora;cleaner;guests;visitors;staff;kids;parents' council;board;choir;treasurer;landlord;night shift;admin;root;deploy;reports;Visa;debit card;girocard;SIM;company card;meeting;webinar;stream;map service;weather service;mailer
Labor;Keller;Haustür;Tor;Tresor;Schuppen;Fahrradkeller;Büro;Vereinsheim;Drucker;Gäste;Mama;Oma;Karte;Kasse;Küche;Heizung;Schule;Elternportal;Verein;portail;cave;porte;coffre;imprimante;maman;banque;école;puerta;trastero;garaje;caja;impresora
mamá;banco;cancello;cantina;porta;cassaforte;stampante;mamma;banca;schuur;poort;voordeur;kluis;moeder;bank;portão;garagem;mãe;banco
""".strip()


def _entries(text: str) -> list[str]:
    return text.replace("\n", ";").split(";")


def _named(text: str, is_secret: bool) -> list[tuple[str, str, bool]]:
    parted = (entry.partition("|") for entry in _entries(text))
    return [(name, value, is_secret) for name, _, value in parted]


_LABELS, _OTHERS = _named(_SECRETS, True), _named(_HARMLESS, False)
_PLACES = _entries(_OWNERS)
_DIALOGUES = (
    "{a}: {l} for {o}?\n{b}: {v}", "{a}: {l}?\n{b}: {v}", "{a}: {o}, what's the {l}?\n{b}: {v}, why", "{a}: pls remind me, {l} of the {o}?\n{b}: {v}", "{a}> {l} {o}?\n{b}> {v} i think",
    "[10:14] {a}: {l} pls\n[10:15] {b}: {v}", "{a}: do you have the {l}\n{b}: yes\n{b}: {v}", "{a}: {o}: {l}??\n{b}: hm, {v}", "Q: {l} ({o})?\nA: {v}",
)  # fmt: skip
_BLOCKS = (
    "{o}, {l}\n\n{v}", "{l}\n{v}", "{l}:\n\n{v}", "{l} ({o})\n\n- {v}", "## {o}\n\n{l}\n\n{v}", "# {l}\n\n{v}", "**{l}**\n\n{v}", "{o}\n{l}\n{v}", "{l} {o}\n-----\n{v}", "{o} - {l}\n\n    {v}",
    "{o}\n  {l}\n  {v}", "{l}, {o}:\n→ {v}", "{l} (as on the label)\n> {v}", "{l}:\n\n```\n{v}\n```", "- {o}\n  - {l}: {v}", "* {l}\n    * {v}", "{o}: {l} {v}", "{l} {o}: {v}", "{o} ({l} {v})", "{l} = {v}  # {o}", "{l}: {v}", "1. {o}\n2. {l}\n3. {v}",
    "{l}\n\n`{v}`\n", "{l}\n\n**{v}**", "{l}, copied from the envelope\n{v}\n(second page: {o})", "{l} of the {o} on the next line\n{v}", "{o}, {l} below\n\n{v}\n", "{o}:\n\n{l}: {v}", "Subject: {o}\n\n{l}:\n{v}\n\nRegards",
)  # fmt: skip


def layouts(chance: Random, number: int) -> Iterator[str]:
    """Yield *number* templates with the secrets between « and »."""
    for _ in range(number):
        kind = chance.random()
        if kind < 0.45:
            yield _table(chance)
        else:
            yield _under_label(chance, _DIALOGUES if kind < 0.6 else _BLOCKS)


def _label(chance: Random) -> tuple[str, str, bool]:
    name, value, is_secret = chance.choice(_LABELS if chance.random() < 0.5 else _OTHERS)
    if chance.random() < 0.25:
        name = chance.choice((name.capitalize(), name.upper(), name.lower()))
    return name, value, is_secret


def _value(chance: Random, kind: str, is_secret: bool) -> str:
    value = (
        f"{{{kind}}}"
        if kind.isalpha() and kind in {"pin", "pass", "phrase", "token", "thing", "order"}
        else kind
    )
    if "{" not in value:
        return value
    return f"«{value}»" if is_secret else value


def _under_label(chance: Random, frames: tuple[str, ...]) -> str:
    name, kind, is_secret = _label(chance)
    a, b = chance.sample(("mia", "Tom", "Ute", "Kai", "jo", "Sam", "Lea", "gus", "Ana", "Mom"), 2)
    frame = chance.choice(frames).replace("{l}", name).replace("{o}", chance.choice(_PLACES))
    return frame.replace("{a}", a).replace("{b}", b).replace("{v}", _value(chance, kind, is_secret))


def _table(chance: Random) -> str:
    columns = [_label(chance) for _ in range(chance.randint(1, 3))]
    first = chance.choice(("", "Where", "Door", "Room", "What", "Name", "Item", "Who", "Service", "Account", "Gerät", "Ort", "Raum", "Lieu", "Sitio", "Luogo", "Wat"))  # fmt: skip
    rows = [[first, *(name for name, _, _ in columns)]]
    for owner in chance.sample(_PLACES, chance.randint(1, 3)):
        rows.append([owner, *(_value(chance, kind, is_secret) for _, kind, is_secret in columns)])
    if chance.random() < 0.15:
        rows = [row[1:] for row in rows]
    form = chance.random()
    if form < 0.6:
        rule = chance.choice(("---", " --- ", ":--", "-----"))
        rows.insert(1, [rule] * len(rows[0]))
        return "\n".join(
            "|" + "|".join(f" {cell} " if cell != rule else cell for cell in row) + "|" for row in rows
        )
    if form < 0.7:
        return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    if form < 0.9:
        mark = chance.choice((",", ";", "\t", " | "))
        return "\n".join(mark.join(row) for row in rows)
    return "\n".join("".join(f"{cell:<24}" for cell in row).rstrip() for row in rows)
