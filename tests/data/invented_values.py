"""Invented values as people choose them, and names of things, for the templates of ``secret_scenarios.tsv``."""

from __future__ import annotations

import re
import string
from random import Random

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
_SYMBOLS = "!?#$%&*+=@^~"

_WORDS = """
apple anchor autumn badger bamboo basket beacon biscuit blanket blossom border bottle branch breeze bridge bucket butter cactus
camel candle canyon carpet castle cattle cellar cherry chimney circle clover cobalt copper coral cotton crater cricket crystal
dagger desert dolphin donkey dragon ember falcon feather fiddle finger flower forest fossil garden ginger glacier granite hammer
harbor hazel helmet hollow honey island ivory jacket jigsaw jungle kettle ladder lantern lemon lizard maple marble meadow melon
mirror monkey mountain mustard napkin needle nickel ocean olive orange orbit orchid otter oyster paddle panda paper parrot pebble
pencil pepper pillow pirate planet pocket poncho potato prairie pumpkin purple puzzle quartz rabbit raven ribbon river rocket
saddle salmon sandal saturn shadow silver sparrow spider spiral sponge stable summer sunset table tiger timber tomato tulip tunnel
turtle velvet violet walnut whale willow window winter wizard yellow zebra
sonne apfel birne fuchs hase igel kirsche lampe milch nebel ofen pilz regen rose schnee stern tanne vogel wolke zwiebel biene brot
fluss gabel garten himmel insel kaffee katze leiter messer mond nadel wiese sommer herbst hafen
abeille arbre bateau bougie cerise cheval citron fleur fraise jardin lune maison miel neige oiseau orage papillon pomme renard soleil
abeja arena barco caballo camino cereza ciruela fresa gato jardin luna manzana mar nieve nube perro playa sol tortuga zorro
albero barca cane cavallo ciliegia fiore gatto limone luna mare mela neve nuvola sole stella volpe
bloem boom brood fiets kaas kat maan molen regen schaap tulp vis zon
""".split()

_NAMES = "anna ben bella bruno carla cleo emma fido finn greta hugo ida jonas julia kira leo lotte luna mara max mia nina nora otto paul rex rosa sami tom ute vera".split()

_THINGS = """
FritzBox7590 RTX4090 X540-T2 TL-WR841N HP-M404dn MX500 iPhone15 Pixel8a S24Ultra K380 WH-1000XM5 DS920 DS220+ R7000 MacBookPro16
EOS-R6 GT3 A320neo 737-800 BC547B ESP32-S3 RP2040 STM32F4 IP67 T480s X1C11 EX4100 LG27UP850 C922 U6-Pro EAP245 RT-AX88U LBP6030 CR2032
GU10 M8x40 WD40 B2B H264 MP3 PS5 Q3-2025 V60 EN60335 ISO9001 E330 F35 GSX750 KX-TG6821 DCP-L2530 SM-T510 TS-453D
Argon2 sqlite3 HTML5 CSS3 ES6 OAuth2 SHA256 AES-256 base64 UTF-8 python3 Flask2 Bootstrap5 Vue3 HTTP2 TLS1.3 IPv4 x86 i18n boto3 psycopg2
Jinja2 log4j2 k8s S3 EC2 H5N1 1080v11 990v5 col-md-6 Neo4j p99 v2.4.1 GPT-4 Chrome114 Firefox128 Windows11 Ubuntu22 PHP8 Java17 BS7799 38-year-old 4.8-star
""".split()

_SERVICES = """
Netflix|Spotify|Disney|the library|the school portal|the gym app|the tax office|Steam|PlayStation|Nextcloud|Jellyfin|Plex|iCloud
|PayPal|eBay|Amazon|Strava|Duolingo|Zoom|Canva|Figma|Notion|Trello|Jira|GitLab|Grafana|Jenkins|Webmin|cPanel|WordPress|Mailchimp
|the insurance site|the council website|the energy supplier|the travel site|Audible|Kobo|Tolino|Deezer|HelloFresh|Lidl Plus|the parking app
|the bank|LinkedIn|Instagram|Xbox|Minecraft|Roblox|Garmin|Komoot|Home Assistant|Proxmox|pfSense|Portainer|Immich|Bitwarden|Dropbox
""".replace("\n", "").split("|")

_DEVICES = """
router|printer|NAS|thermostat|e-reader|kid's tablet|smart TV|baby monitor|doorbell camera|robot vacuum|switch in the rack|access point|media player
|work laptop|old phone|projector|sewing machine computer|3D printer|e-bike display|heat pump|solar inverter|wallbox|coffee machine|car radio
|garage opener|weather station|security camera|label printer|cash register|time clock|piano|treadmill|intercom|games console|smartwatch
|hearing aid app|pellet stove|sauna control|boiler|dishwasher|irrigation timer|drone|dashcam|set-top box|old iPad|iMac|Chromebook|server
""".replace("\n", "").split("|")

_DEVICES_BY_LANGUAGE = {
    "de": "Drucker|Router|Beamer|Rechner|Laptop|Fernseher|Saugroboter|Thermostat|Wechselrichter|Server|E-Book-Reader|Kaffeeautomat|Heizungsregler|Anrufbeantworter|Plotter|Kinderrechner",
    "fr": "la box|l'imprimante|la tablette|le portable|la télé|le thermostat|la liseuse|l'aspirateur robot|la caméra|le répondeur|la chaudière|le serveur|la console|la borne|l'ordinateur de Léa",
    "es": "el router|la impresora|la tableta|el portátil|la tele|el termostato|el lector|el robot aspirador|la cámara|la caldera|el servidor|la consola|el inversor|el ordenador",
    "it": "il router|la stampante|il tablet|il portatile|la tv|il termostato|il lettore|il robot|la telecamera|la caldaia|il server|la console|il computer",
    "nl": "de router|de printer|de tablet|de laptop|de tv|de thermostaat|de e-reader|de camera|de ketel|de server|de pc",
}


def chosen(chance: Random, name: str) -> str:
    """Return an invented value of the kind *name*, as somebody would choose it."""
    if name.startswith("device."):
        return chance.choice(_DEVICES_BY_LANGUAGE[name.removeprefix("device.")].split("|"))
    return _KINDS[name](chance)


def _some(chance: Random, alphabet: str, least: int, most: int) -> str:
    return "".join(chance.choices(alphabet, k=chance.randint(least, most)))


def _digits(chance: Random, least: int, most: int) -> str:
    return _some(chance, string.digits, least, most)


def _word(chance: Random) -> str:
    word = chance.choice(_WORDS if chance.random() < 0.7 else _NAMES)
    return word.capitalize() if chance.random() < 0.5 else word


def _words(chance: Random, least: int, most: int, gaps: str) -> str:
    return chance.choice(gaps).join(chance.choices(_WORDS, k=chance.randint(least, most)))


def _leet(chance: Random) -> str:
    word = chance.choice(_WORDS).translate(str.maketrans("aeost", "@30$7"))
    return word.capitalize() + _some(chance, _SYMBOLS + string.digits, 1, 3)


def _random(chance: Random) -> str:
    value = _some(chance, _ALNUM, 8, 20)
    if chance.random() < 0.4:
        at = chance.randrange(1, len(value))
        value = value[:at] + chance.choice(_SYMBOLS) + value[at:]
    return value if any(map(str.isdigit, value)) else value + _digits(chance, 1, 2)


def _password(chance: Random) -> str:
    draw = chance.random()
    word, other = chance.choice(_WORDS), chance.choice(_WORDS + _NAMES)
    if draw < 0.16:
        return (
            word.capitalize()
            + _digits(chance, 1, 4)
            + chance.choice(("", "", "!", "?", "#", "."))[:1].replace(".", "")
        )
    if draw < 0.24:
        return word + _digits(chance, 1, 4)
    if draw < 0.32:
        return f"{word.capitalize()}{chance.choice('-_.!#+&')}{other}{chance.choice(('', '-', '_'))}{_digits(chance, 1, 4)}"
    if draw < 0.38:
        return word.capitalize() + other.capitalize() + _digits(chance, 1, 4)
    if draw < 0.43:
        return (
            _digits(chance, 1, 4)
            + chance.choice(("", "-", "_"))
            + word.capitalize()
            + chance.choice(("", "!", "*"))
        )
    if draw < 0.48:
        return _leet(chance)
    if draw < 0.62:
        return _random(chance)
    if draw < 0.72:
        return (
            _some(chance, string.ascii_letters, 4, 8) + _digits(chance, 2, 4) + chance.choice(("", "!", "#"))
        )
    if draw < 0.82:
        return _some(chance, string.ascii_lowercase, 5, 8) + _digits(chance, 2, 4)
    if draw < 0.88:
        return _some(chance, string.ascii_letters, 3, 6) + chance.choice(_SYMBOLS) + _digits(chance, 2, 4)
    if draw < 0.91:
        return "-".join(_some(chance, _ALNUM, 3, 5) for _ in range(chance.randint(2, 4)))
    if draw < 0.94:
        return word.capitalize() + chance.choice("!?#$") + str(chance.randint(1950, 2026))
    if draw < 0.97:
        return _words(chance, 3, 4, "-_.") + chance.choice(("", "", _digits(chance, 1, 2)))
    return word + other.capitalize()


def _number(chance: Random) -> str:
    draw = chance.random()
    if draw < 0.55:
        return _digits(chance, 4, 4)
    if draw < 0.85:
        return _digits(chance, 5, 6)
    if draw < 0.9:
        return _digits(chance, 3, 3)
    if draw < 0.93:
        return _digits(chance, 7, 8)
    return chance.choice("- ").join(_digits(chance, 2, 2) for _ in range(3))


def _token(chance: Random) -> str:
    draw = chance.random()
    if draw < 0.3:
        return _some(chance, _HEX, 1, 1) + chance.choice(
            (_some(chance, _HEX, 31, 31), _some(chance, _HEX, 39, 39), _some(chance, _HEX, 23, 47))
        )
    if draw < 0.8:
        return _some(chance, _ALNUM, 20, 48)
    if draw < 0.9:
        return (
            _some(chance, _ALNUM, 1, 1) + _some(chance, _ALNUM + "_-", 22, 46) + _some(chance, _ALNUM, 1, 1)
        )
    return (
        chance.choice(("tok", "key", "pk", "api", "app", "svc", "rk", "prod"))
        + chance.choice("_-")
        + _some(chance, _ALNUM, 18, 32)
    )


def _order(chance: Random) -> str:
    letters, digits = _some(chance, _UPPER, 1, 4), _digits(chance, 3, 8)
    return chance.choice(
        (
            f"{letters}-{digits}",
            f"{letters}{digits}",
            f"2026-{digits}",
            digits + "0",
            f"{letters}-26-{digits}",
            f"#{digits}9",
            f"{digits[:3]}-{digits}",
            f"{letters}{digits[:3]}.{digits}",
        )
    )


def _phrase(chance: Random) -> str:
    return _words(chance, 3, 6, "  --.")


_KINDS = {
    "pass": _password,
    "pin": _number,
    "token": _token,
    "order": _order,
    "phrase": _phrase,
    "phrase12": lambda chance: _words(chance, 12, 12, " "),
    "word": _word,
    "thing": lambda chance: chance.choice(_THINGS),
    "service": lambda chance: chance.choice(_SERVICES),
    "device": lambda chance: chance.choice(_DEVICES),
    "name": lambda chance: chance.choice(_NAMES),
}

_KIND = re.compile(r"(?<!\{)\{(" + "|".join(_KINDS) + r"|device\.[a-z]{2})\}")


def filled(chance: Random, template: str) -> str:
    """Return *template* with every ``{kind}`` replaced by an invented value; ``{alphabet:length}`` stays."""
    return _KIND.sub(lambda match: chosen(chance, match[1]), template)
