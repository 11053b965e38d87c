"""Words that are said of secrets and are none: "the password is required", "the code is clean", "log in with Google"."""

from __future__ import annotations

from functools import cache

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_values import is_common_word, is_placeholder

# Lower case and without accents, as `clawmem.domain.security.disguise.plain` writes them.
_WORDS = """
    about above across after afterwards again against ahead almost along alongside already also although always amid among another anybody anymore
    anyone anything anyway anywhere apart around aside asleep away awake back because before beforehand behind below beneath beside besides between
    beyond both bust certain certainly cheap clear clearly close common comparable complete complex complicated concealed confidential consistent
    constant cool crap crucial cryptic daft dated dead deaf dear dedicated deep dirty distinct double doubtful down downstairs due dull during each
    eager early easily either else elsewhere english entirely equal especially even eventually ever everybody everyone everything everywhere evident
    exact exactly except exempt external extra fair fake familiar far fast faulty few fewer final finally fresh full fully funny gladly global gone
    great gross guesswork half handy happy hardly hence hereby hers herself high himself hopefully huge human i'm immutable implicit incomplete
    incorrect indeed independent indoors inside insecure instead intact internal into invisible irregular ironic itself just lame large lately later
    latter lazy legal legit less lest like likely loud low lowercase mad main mainly maybe meanwhile merely mere mine minor mixed moot more moreover
    most mostly much myself naked namely narrow near nearby nearly neat necessary neither never nevertheless nice nobody none nonsense normal
    normally nowhere obscure obsolete obvious odd offline often ok okay old online only opaque otherwise ours ourselves outdated outdoors outright
    outside over overdue overly own past perfect perhaps plaintext please plenty poor precious predictable present presumably pretty previous
    primarily prior probably proper purely quick quickly quite rare rarely rather really recent redundant regular relevant reliable remote rich
    ridiculous right rigid rough rubbish rude sacred sad salty same scarce seldom sensible sensitive separate several severe shabby sharp shortly
    silly silent similar simply slightly slow slowly small smart somebody somehow someone something sometime sometimes somewhat somewhere soon sorry
    specific standard static steady sticky stiff straight strange strict stricter stronger stupid subject such sufficient super supposedly sure
    tedious terrible theirs themselves therefore thin though through throughout thus tight tiny together tomorrow tonight too top tough towards
    toxic tricky trivial truly twice ugly ultimately unclear under unless unlike unsafe until upper uppercase upside upstairs usually vague vastly
    versus very vital volatile weaker weird whatever whenever whereas wherever whether whichever while whoever whole whose wide widely wise within
    worse worst worth yesterday yet yours yourself today begun bent bitten blown borne bound bought broke brought built burnt caught chosen cut
    dealt done drawn driven eaten fallen fed felt flown forbidden forgot forgotten found frozen given gotten grown held hid hidden hit hung kept
    known laid lain led left lent lit lost made meant met mistaken overridden overwritten paid put reborn rebuilt rewritten read rung run said seen
    sent set shaken shared shown shut sold sought spelt split spoken spread stolen stuck sunk sworn taken taught thrown told torn typed understood
    undone unseen unsent unset unspoken unwritten upset withheld withdrawn won worn wrapped written unread broken absent accessible acceptable
    active alive alphabetic alphanumeric ambiguous amusing annoying anonymous arbitrary atrocious automatic available average awful awkward bare
    base64 basic bcrypt binary blank bogus boring callable case civil classic compliant composite config configurable confusing conditional core
    cracked crypted crypto debatable decent default deferred definite deterministic difficult disputed diverse dynamic eligible empty epic ephemeral
    equivalent essential eternal evil explicit fatal feasible fixed flaky flat flawless flexible foreign formal free friendly fun functional
    fundamental fuzzy generic genuine glorious gradual harmless heavy helpful hex hexadecimal hollow honest horrible idempotent identical idle
    immediate impossible inaccessible inactive indifferent inline innocent instant integral interactive interesting intern irrelevant latent leaky
    lengthy lenient literal logical lousy lovely lucky magic magical major manual meaningless mediocre memorable messy minimal missing mnemonic
    modern monthly mutual mysterious mythical native natural negative neutral nominal nullable numeric numerical official ordinary original overlong
    painful parallel partial passive pathetic patchy pending perishable persistent personal plausible pointless popular portable posh precise
    productive prone public pure quarterly quirky ready real realistic reasonable recoverable recursive relative ripe robust rotten safer sacrosanct
    sane satisfactory scary scoped secondary secret secretive secure selective sequential serious severed sharable shiny simpler slack sloppy smooth
    snug solid sound sparse special spicy stable stale subtle suitable superb superfluous suspicious symbolic symmetric synonymous systematic
    temporary terse thorough tidy timely toast tolerable total traditional transient transparent true typical unaffected unavailable unbreakable
    unchanged uncommon undefined underway unequal uneven unhappy uniform unimportant universal unofficial unpredictable unnecessary unsuitable
    unusual upcoming urgent usable useful useless valid variable verbatim viable virtual visible vulnerable wasteful weekly worthless yearly daily
    hourly annual funky boss king tbd tba todo wip n/a accept access accord act add adopt agree allow answer appear apply arrive ask attempt avoid
    become begin believe belong bring buy call cancel care carry cause change check choose claim click come compare complain confirm connect
    consider contact contain continue copy cost create decide decrypt delete depend differ disable discover do edit encrypt end enter exist exit
    expect expire explain expose fail feel fetch fill finish fix follow forget gain generate get give go grant guard guess handle happen have hear
    help hide hold hope hurt ignore improve include increase keep kill know lack last lead learn leave lie limit link live load lock login log look
    lose make manage match matter mean meet memorise memorize mention mind miss move need obtain open pass permit persist pick place play point
    prefer prevent proceed process produce protect prove provide push quit raise reach receive recover refresh refuse regain reject relate rely
    remain remember remind remove rename renew repeat replace reply report request require reset resolve restore resume retrieve retry return reuse
    reveal rotate save scan search seem send serve share show sign skip solve sort speak spend start stay stop store submit succeed suggest supply
    support suppose survive switch sync take talk tell test think tie touch track transfer travel treat try turn type understand unlock update
    upgrade use validate vary verify view visit wait want warn watch win wish wonder work worry write works expires fails changes matches matters
    helps opens starts stops exists remains stays becomes goes gets lives lies sits says reads means needs wants takes gives keeps lasts runs
    applies appears arrives ages leaks sucks comes differs depends varies protects follows belongs counts lacks has does prompt prompts field fields
    policy policies manager managers resets hash hashes hashing file files form forms dialog page pages box boxes screen input inputs entry entries
    hint hints rule rules requirement requirements database rotation expiry recovery hygiene sharing storage vault vaults list lists generator
    generators strength length attempts guessing spraying cracking leak breach theft dump dumps format lookup flow step steps option options
    parameter parameters argument arguments property column columns row value values setting settings token tokens logins updates mail mails email
    emails letter links protection word words phrase phrases key keys code codes secrets pin pins password passwords passphrase passphrases passcode
    passcodes pwd user users username usernames name names account accounts credential credentials number numbers character characters digit digits
    safety security question questions answers message messages notification notifications error errors warning issue issues bug problem problems
    topic section chapter story meeting system systems service services server servers client clients auth authentication authorization
    authenticator authority callback string strings str int integer bool boolean float bytes object objects array types enum null nil false optional
    sequence mapping tuple dict sealed chrome firefox safari edge opera brave google github gitlab facebook apple microsoft twitter discord okta
    auth0 keycloak ldap saml oauth oidc openid sso kerberos ssh sftp telnet putty passkey passkeys fido webauthn yubikey fingerprint fingerprints
    biometrics faceid touchid face badge badges card cards otp totp mfa phone sms curl wget git docker sudo root admin administrator guest guests
    azure entra directory bitwarden keepass keepassxc lastpass dashlane openssl gpg pgp age sops base bash powershell python browser browsers laptop
    terminal console keyboard mouse finger thumb caution ease confidence hello hey hi yes yeah yep no nope nah thanks thank cheers dunno pardon what
    which who when where why how whom well fine good lol hmm huh oh ah one two           
    zero first second third fourth fifth once nth monday tuesday wednesday
    thursday friday saturday sunday anna's it's that's here's there's don't doesn't isn't wasn't won't can't shouldn't couldn't let's we'll logout
    next details home menu profile avatar advanced general enabled disabled register signup signin trust patience practice honesty persistence
    consistency timing balance communication simplicity kindness time love luck moderation preparation repetition angegeben abgelaufen abhanden
    aktuell alle alles allein allgemein alt analog anders angekommen anonym auch ausreichend aussen austauschbar bald beantragt bekannt bereit
    bereits besser bestimmt bitte bloss dabei dadurch dafur daheim daher damals damit danach daneben dann daran darauf darin darunter davon dazu
    demnachst derselbe dasselbe doch dort draussen drin dringend durch echt egal eigentlich einfach eindeutig eingegeben eingetragen einheitlich
    einmalig einzeln endlich endgultig entweder erforderlich erlaubt ersetzt erst extern fachlich falsch fertig fest festgelegt frei fremd fruh ganz
    gar gebraucht geheim geandert geblieben gefunden gegeben gegen gehasht gekommen geklaut gelb gelesen geleakt geloscht gemeinsam gemeint genannt
    genau genug geraten gerade gesagt gesendet gespeichert gestern gestohlen gesucht geteilt getippt gesetzt gewechselt gewahlt gewesen gewohnt
    gezeigt gleich grob gultig gut heute heikel hinter identisch immer individuell inaktiv irgendwo jetzt jemals jeweils kaputt klar klein knapp
    komisch komplett kompliziert konfigurierbar korrekt krass kurz lang leicht leider lesbar lokal manchmal maximal meins mittlerweile moglich
    morgen nachher nachstes namlich neben nervig nichts nie niemand niemals niemandem notig notiert nutzlos oben offen offentlich oft ohnehin
    pflicht privat raus richtig rot ruhig sauber schlecht schlicht schnell schon schwach schwer seltsam sicher sichtbar simpel sofort sonst spat
    speziell stark statisch streng tabu tatsachlich temporar tot trotzdem uberall ubrigens umsonst unbekannt unbrauchbar ungultig ungeandert
    ungefahr ungenutzt unklar unleserlich unmoglich unnotig unser unsicher unsichtbar unter ununterbrochen unverandert unverschlusselt unwichtig
    veraltet verbraucht verboten verdeckt vergeben vergessen verkehrt verloren vermutlich verraten verschieden verschlusselt verschwunden versteckt
    vertraulich verwirrend viel vielleicht voll vollig vorbei vorhanden vorher vorlaufig wahrscheinlich weg weiter weiterhin wenig wertlos wichtig
    wieder wirksam wirklich wohl zeitlich ziemlich zufallig zuhause zuletzt zuruck zusammen zustandig zwingend bei beim fur ihm ihnen ihre mich mir
    uns euch dir dich wer wen wem wo woher wohin warum weil dass denn aber oder sondern ob falls wenn gesehen ailleurs ainsi alors ancien ancienne
    apres aujourd assez aucun aussi autre autres avant beaucoup bien bientot bizarre bon bonne cache cachee cachees ceci cela chaque chez chiffre
    clair complet complexe compromis connu connue correct correcte court courte dedans deja demain depuis derriere dessous dessus devant different
    differente difficile disponible dispo donc donne ecrit ecrite efface egale encore enfin ensuite entre envoye exacte expiree facile faible fini
    fixe fort forte genere gratuit hier ici identique illisible implicite inchange incomplet inconnu inconnue incorrecte indispensable insuffisant
    interdit interne introuvable inutile invalide jamais jetable juste lisible local long longue maintenant mauvais mauvaise meme mieux moins moyen
    necessaire neuf nouveau nouvelle nul nulle obligatoire oublie oubliee parfait parfois parti partout perdu perdue perime perimee personnel
    personne peu petit plutot possible pratique presque pret prete prive privee propre publique quelconque quelque quoi rejete requis requise
    robuste sauf secrete seul seule seulement simple solide sous souvent stocke suivant suffisant temporaire tres trop trouve unique valable valide
    vide vieux voici voila vol vole vrai ahora ajena alguien algo alguna alguno ambas anotada antes antigua antiguo apenas aqui arriba asi aunque
    automatica bastante buena bueno caducada caducado cada casi cifrada clara claro comun comprometida compleja correcta correcto corta corto debil
    demasiado dentro desconocida desconocido despues detras diferente dificil distinta distinto donde encima entonces erronea escondida escrita
    especial esta estan este ese eso esto facil falsa falso fija fijo fuera fuerte generada guardada hoy idem identica igual imposible incorrecta
    incorrecto incompleta insegura interna invalida invalido irrelevante jamas larga largo legible mala malo manana mejor menos mia mio misma mismo
    mucha mucho nada nadie necesaria necesario ninguna ninguno nueva nuevo nunca obligatoria obligatorio oculta olvidada opcional otra otro peor
    perdida perfecta poca poco posible privada propia publica puesta pues quiza quien quizas repetida requerida rota secreta segura seguro sencilla
    siempre siguiente sola solo suficiente suya tambien tampoco tarde temporal toda todavia todos unica unico usada vacia vacio valida valido vieja
    viejo vencida adesso altra altro ancora antica anche appena bassa bella bene breve bloccata buona cambiata casuale cattiva cercata chiara chiusa
    cifrata completa complessa comune conosciuta corretta corretto cosi debole dietro difettosa dimenticata diversa diverso dopo dove dubbia errata
    errato finta fissa forse fuori generata gia giusta giusto grande ignota illeggibile impossibile inattiva incompresa insicura lunga lungo
    mancante meglio meno molto necessaria nascosta nessuna niente nota nulla nuova nuovo obbligatoria ogni oggi ormai peggio perduta persa personale
    piena piu possibile presa privata pronta pronto propria pubblica qualcosa quasi quella quello questa questo qui richiesta rubata sbagliata
    sbagliato scaduta scaduto scomparsa scoperta scritta segreta semplice sempre senza sicura sicuro soltanto sospesa sotto sopra spesso stessa
    stesso stata suo sua superata temporanea tranne troppo tua tuo tutta tutto uguale usata vecchia vecchio vera vicino vuota aan achter afgelopen
    alleen altijd beide bekend beneden beter bijna binnen binnenkort boven buiten daar dadelijk dezelfde dicht doorgegeven eenvoudig eigen elders
    erg ergens fout foute foutief gedeeld gehackt gekozen geldig gelijk gelekt genoeg gestolen gevonden gewijzigd gewist goed groot hetzelfde
    identiek iedereen iemand iets ingesteld jammer juist klaar kort kwijt lastig leeg lokaal makkelijk misschien moeilijk naast natuurlijk nergens
    niets nieuw nodig nogal nooit nu onbekend onder ondertussen ongeldig onjuist onleesbaar onnodig onveilig onveranderd onzichtbaar ooit opnieuw
    opgeslagen optioneel oud overal samen slecht snel soms sterk straks strikt tegen tijdelijk uniek vaak vandaag vast veel veilig veranderd
    verborgen verboden verder vergeten verkeerd verlopen verplicht vertrouwelijk vervallen voldoende volledig voorlopig vreemd waar waarschijnlijk
    weer weinig zeker zichtbaar zwak
    hour day week fortnight month quarter year
    goodbye welcome paciencia trabajo pazienza geduld vertrauen confiance confianza fiducia luks veracrypt cryptsetup filevault bitlocker law copyright firewall heisst heißt lautet lauten rsync scp ftp netcat ssh-agent mosh rdp vnc folgt siehe nachfragen fehlt erfragen voir demander suit segue chiedere sigue pendiente volgt zie vraag vragen
"""
_ENDING = Pattern(
    r"(?<=[a-z]{2})(?:ed|ing|able|ible|ful|less|ous|ive|ary|ory|[a-z]{2}[bcdghikmnprtvwxy]ly|ally|ity|tion|ment|ness|ately|ably|ently|antly|sch|lich|bar|iert|endet|dert|tet|ada|ado|ida|ido|oire|aire|elle|ent|ant|ical|ional|ata|ato|ute|uta|uto|ato|'s|n't)$"
)
# Nouns with such an ending, which people do choose.
_NOUNS = """
    assembly panoply beverly kimberly family lily emily homily doily butterfly jelly
    bed bleed breed bobsled creed deed feed flatbed forehead freed greed hotbed moped reed riverbed seabed seaweed seed shed sled speed steed tweed
    weed milkweed linseed aniseed rosebed toolshed being building ceiling clothing darling duckling dumpling dwelling earring evening farthing
    fledgling fling gosling herring icing king knitting lightning lemming lining morning nestling offspring outing oxwing painting pudding railing
    redwing ring sapling seedling shilling sibling sling spring starling sterling sting string swing thing viking wedding wing yearling lapwing
    waxwing bring inkling changeling topping stocking crossing landing clearing beijing reading cable fable gable parable sable stable table
    timetable turntable vegetable constable crucible bible thimble dible armful fistful handful mouthful spoonful octopus mouse grouse house
    lighthouse greenhouse treehouse playhouse hummus archive beehive chive dive drive endive five hive jive live native olive relative detective
    locomotive canary diary dictionary estuary february january library rosemary sanctuary secretary mary hilary glossary granary aviary apothecary
    accessory allegory cory dory factory glory history hickory inventory ivory laboratory lory memory observatory pillory story theory tory victory
    territory dormitory directory city gravity infinity trinity serenity rally tally ally sally felicity charity carnation station lotion motion
    notion nation potion lion dandelion celebration constellation constitution expedition junction caution apartment basement cement cinnamon
    element experiment garment instrument moment monument ornament parliament pigment pavement raiment segment testament pimento harness business
    lioness princess wilderness witness happiness goodness barsch busch dolmetsch esch fisch fleisch frosch gulasch hirsch kirsch kitsch marsch
    mensch pfirsich punsch tisch tusch walfisch thunfisch tintenfisch habicht bar nachbar basar eisbar jaguar nektar sidebar handlebar crowbar espar
    armada cascada ensalada espada granada limonada cada nevada pomada jornada tostada empanada canada fachada avocado bravado colorado desperado
    dorado eldorado muchado prado renado soldado tornado venado mercado tejado helado pescado comida florida corrida libido guarida nido cupido
    memoire ivoire poire armoire histoire noire victoire reservoir gloire foire ardoise gazelle isabelle libelle mirabelle chanterelle morelle
    dentelle hirondelle coccinelle sauterelle forelle gisele michelle belle aquarelle ritournelle vaisselle mademoiselle nacelle marelle tourterelle
    accent adolescent agent cent client continent event crescent current patent president parent rodent serpent scent student talent tent torrent
    trident ant aunt elephant giant grant infant instant merchant peasant pheasant plant pendant restaurant servant tenant tyrant warrant croissant
    diamant restant hydrant cormorant currant pageant truant medical musical radical tropical national medicinal batata cantata data fermata patata
    regatta sonata strata tomata alligato gato potato staccato tomato zapato pato gelato pizzicato plato obbligato moscato vibrato legato flute
    parachute chute institute mute lute minute statute uto pluto
""".split()


@cache
def _talk() -> frozenset[str]:
    return frozenset(_WORDS.split())


@cache
def _nouns() -> frozenset[str]:
    return frozenset(_NOUNS) - _talk()


def is_talk(word: str) -> bool:
    """Whether *word* is said of a secret or begins a statement about it, so that it is hardly the secret itself."""
    lower = word.lower()
    if lower in _talk() or is_common_word(lower) or is_placeholder(word):
        return True
    return bool(_ENDING.compiled.search(lower)) and lower not in _nouns()


def is_word_password(value: str) -> bool:
    """Whether *value* is a single word that is not commonly said of passwords ("required", "expired")."""
    return len(value) >= 6 and value.isascii() and value.isalpha() and not is_talk(value)
