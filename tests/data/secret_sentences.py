"""Sentences in seven languages in which the same thing has a secret, a count, a result or a number, drawn by lot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

# Words of a slot by language; ``<slot>`` in a frame or in another slot is replaced by one of them.
_WORDS = {
    "en": {
        "thing": "door|gate|front door|back door|garage|shed|barn|boathouse|safe|alarm|alarm panel|keypad|key safe|key box|lockbox|locker|padlock|bike lock|lift|barrier|cabinet|drug cupboard|cash box|gun cabinet|tablet|phone|old phone|dictaphone|e-reader|kiosk|ticket machine|terminal|till|photocopier|printer|router|NAS|camera|intercom|heat pump|boiler|thermostat|treadmill|vending machine|set-top box|projector|car radio|dashcam|wallbox|storage unit|archive|workshop|cellar|attic|greenhouse|pool house|sauna|club room|changing room|staff entrance|loading bay|turnstile|suitcase|trunk|diary|music box|freezer|server rack|switch|access point|simulator|scanner|label printer|weather station|drone|e-bike|scooter|trailer|caravan|boat|tractor|digger|voicemail|SIM|bank card|fuel card|library account|school portal|tax portal|payroll site|booking page|mailbox|database|wiki|forum|shop backend|build server|backup|archive file|zip|USB stick|hard disk|spreadsheet|PDF|wallet|vault",
        "place": "at the allotment|in the cellar|in hall 3|on the second floor|by the river|behind the church|of the choir|of the club|at work|at my aunt's|in the office|for guests|for staff|of the night shift|at the depot|in the lab|on the ferry|of the museum|in the attic|at the surgery|in the yard",
        "opens": "opens with|opens on|opens at|unlocks with|unlocks on|unlocks after|responds to|reacts to|obeys|accepts|takes|wants|wants to hear|needs|expects|asks for|demands|lets you in with|lets you through after|gives way to|clicks open at|is released by|springs open on|is set to|is now on|stands at|is programmed to|has been reset to|was changed to|now uses|still uses|goes by|listens to|goes quiet after|is switched off by|is armed with|is silenced by|boots after|wakes up on|starts with|only knows|was coded to|gets|is protected by|is secured with|is guarded by|is locked under|is reached with|is opened by",
        "do": "type|key in|punch in|enter|dial|press|tap|use|try|say|give|quote|supply|put in|feed it|turn it to|set it to|spell out|mention|pick|choose|go with|answer|read out|tell them",
        "after": ".|!|, nothing else.| and wait.| and pull.| twice.| until Friday.| since the break-in.| from Monday on.|, then hash.|, then the star key.| again.| now.|, please.| at the keypad.| on the panel.| for the time being.| if I am away.| when it asks.|, don't tell anyone.| (only us two).| as before.| before you go in.||, not the birthday.|, same as last year.|; I changed it today.",
        "who": "Nora|my brother|the caretaker|the landlord|Mum|the treasurer|our admin|the neighbour|the vet|IT|the receptionist|Ben|the previous tenant|the installer|Grandpa|the night porter|she|he|I|we|someone",
        "told": "says|said|told me|swears|reminded me|wrote|noted|mentioned on the phone|whispered|confirmed|thinks|remembers|texted|mailed|read out",
        "secret": "code|PIN|combination|number|digits|four digits|six digits|door code|entry code|access code|pin code|unlock code|service code|secret number|passcode",
        "word": "password|passphrase|login|pass|word|pw|secret word|codeword|master password|safe word|access word|secret answer|sign-in|wifi password|network key|credential",
        "unit": "tries|attempts|times|keys|ms|seconds|minutes|hours|days|euros|dollars|pounds|kg|grams|mm|metres|pages|entries|events|errors|users|visitors|requests|lines|rows|tokens|points|steps|units|pieces|people|votes|records|files|bytes|words|members|locks|logins|notes|cycles|calls|visits|accounts|openings|passes|bits|litres|copies|rounds|turns|tests|guests|commits",
        "count": "failed after|fails with|gave up after|was opened|logged|counted|needed|took|held out for|weighs|cost|costs|returned|produced|reported|stores|holds|has|had|survived|collected|printed|lost|gained|showed|saw|measured|sent|received|rejected|refused|accepted only|handled|served|used|saved",
        "result": "returned|answers with|exited with|stopped with|fails with|failed with|reported error|shows error|shows code|ended with status|gave status|exit code|error|error code|status|status code|signal|warning|fault|responded with HTTP|replied with|crashed with|got a",
        "other": "room|page|locker|order|invoice|ticket|case|part number|model|serial|version|build|port|extension|flight|train|bus|hook|drawer|building|seat|article|customer|member|row|issue|PR|chapter|line|channel|key number|lot|batch|folder|shelf|stand|gate|platform|apartment|house|box|file|postcode|year",
    },
    "de": {
        "thing": "die Tür|das Tor|die Haustür|die Garage|der Schuppen|der Tresor|die Alarmanlage|das Tastenfeld|der Schlüsselkasten|das Schließfach|der Spind|das Fahrradschloss|der Aufzug|die Schranke|der Schrank|die Kasse|das Tablet|das Handy|der Drucker|der Router|die Kamera|die Wärmepumpe|der Heizungsregler|der Automat|das Lager|die Werkstatt|der Keller|das Archiv|der Koffer|das Tagebuch|der Server|der Scanner|die Drohne|der Wohnwagen|das Boot|die Mailbox|die Karte|das Portal|die Datenbank|das Backup|die Festplatte|das Postfach|der Kopierer|der Beamer|das Vereinsheim|der Schaltschrank",
        "opens": "öffnet mit|öffnet sich bei|geht auf mit|geht mit|reagiert auf|nimmt|braucht|verlangt|will|hört auf|steht auf|ist eingestellt auf|wurde geändert auf|läuft jetzt über|ist gesichert mit|entsperrt sich mit|schaltet ab bei|lässt sich öffnen mit|fragt nach|startet mit|hat jetzt|kennt nur|akzeptiert",
        "do": "tippe|gib|drück|nimm|sag|wähle|nenne|stell ein|benutze|probier",
        "after": ".|!| und dann Raute.| und ziehen.| zweimal.| bis Freitag.| seit dem Einbruch.| ab Montag.| ein.||, nicht das Geburtsjahr.| (nur wir zwei).|, wie immer.| am Tastenfeld.|, bitte niemandem sagen.",
        "who": "Oma|der Hausmeister|die Vermieterin|Jonas|die Kassiererin|unser Admin|der Nachbar|der Monteur|sie|er|ich|wir",
        "told": "sagt|meint|hat gesagt|schreibt|erinnert sich an|hat durchgegeben|hat notiert|nannte",
        "secret": "Code|PIN|Zahlenkombination|Kombination|Geheimzahl|Ziffern|Türcode|Zugangscode|Nummer|Öffnungscode",
        "word": "Passwort|Kennwort|Passphrase|Losung|Zugang|Codewort|WLAN-Passwort|Schlüssel|Login|Sicherheitsantwort",
        "unit": "Versuche|Versuchen|Mal|mal|Schlüssel|ms|Sekunden|Minuten|Stunden|Tage|Tagen|Euro|kg|Gramm|mm|Meter|Seiten|Einträge|Fehler|Nutzer|Besucher|Anfragen|Zeilen|Punkte|Stück|Leute|Stimmen|Dateien|Bit|Liter|Mitglieder|Umdrehungen|Anrufe|Öffnungen|Fehlversuche|Buchungen",
        "count": "versagt nach|brauchte|zählte|meldete|kostet|kostete|wiegt|hat|hatte|hielt|misst|verbraucht|speichert|schaffte|druckte|öffnete sich|wurde geöffnet|enthält|überlebte|zeigt",
        "result": "antwortet mit|endet mit|meldet Fehler|zeigt Fehler|Fehlercode|Status|bricht ab mit|Rückgabewert|scheitert mit|liefert",
        "other": "Raum|Seite|Spind|Auftrag|Rechnung|Ticket|Fall|Teilenummer|Modell|Version|Port|Durchwahl|Flug|Zug|Haken|Fach|Gebäude|Platz|Artikel|Kunde|Zeile|Kapitel|Schlüsselnummer|Hausnummer|Postleitzahl|Baujahr|Halle|Schlüssel",
    },
    "fr": {
        "thing": "la porte|le portail|le garage|la cave|l'abri|le coffre|l'alarme|le clavier|la boîte à clés|le casier|le cadenas|l'antivol|l'ascenseur|la barrière|la caisse|la tablette|le téléphone|l'imprimante|la box|la caméra|la chaudière|l'automate|l'atelier|les archives|la valise|le serveur|la carte|le portail de l'école|la base|la sauvegarde|le disque|la messagerie|le local|le vestiaire|la remorque|le bateau",
        "opens": "s'ouvre avec|s'ouvre à|se déverrouille avec|réagit à|répond à|accepte|demande|veut|attend|est réglé sur|est passé à|marche avec|fonctionne avec|est protégé par|se coupe avec|démarre avec|utilise maintenant|exige",
        "do": "tape|compose|saisis|entre|fais|dis|donne|essaie|utilise|mets",
        "after": ".|!| puis dièse.| et tire.| deux fois.| jusqu'à vendredi.| depuis lundi.||, pas la date.| (entre nous).| comme d'habitude.| sur le clavier.",
        "who": "le gardien|la voisine|maman|Paul|le technicien|la comptable|il|elle|on|je",
        "told": "dit|m'a dit|m'a donné|a noté|se souvient de|confirme|m'a écrit",
        "secret": "code|code secret|combinaison|digicode|PIN|code d'accès|chiffres|numéro secret",
        "word": "mot de passe|mdp|phrase secrète|clé wifi|identifiant|mot secret|accès|parole",
        "unit": "essais|tentatives|fois|clés|ms|secondes|minutes|heures|jours|euros|kilos|grammes|mm|mètres|pages|entrées|erreurs|utilisateurs|visiteurs|requêtes|lignes|points|pièces|personnes|voix|fichiers|bits|litres|membres|tours|appels|ouvertures",
        "count": "a échoué après|a demandé|a coûté|coûte|pèse|a tenu|compte|a compté|contient|a pris|mesure|a enregistré|a reçu|a imprimé|a été ouvert|possède|affiche|garde",
        "result": "renvoie|a renvoyé|affiche l'erreur|erreur|code d'erreur|statut|s'arrête avec|échoue avec|répond",
        "other": "salle|page|casier|commande|facture|dossier|pièce|modèle|version|port|poste|vol|train|crochet|bâtiment|place|article|client|ligne|chapitre|clé numéro|code postal|année|hall|appartement",
    },
    "es": {
        "thing": "la puerta|el portal|el garaje|el trastero|la caja fuerte|la alarma|el teclado|la caja de llaves|la taquilla|el candado|el ascensor|la barrera|el armario|la caja|la tableta|el móvil|la impresora|el router|la cámara|la caldera|el almacén|el taller|la maleta|el servidor|la tarjeta|la plataforma|la base de datos|la copia|el disco|el buzón|el vestuario|el barco",
        "opens": "se abre con|abre con|abre en|se desbloquea con|responde a|acepta|pide|quiere|necesita|está en|quedó en|se cambió a|funciona con|va con|está protegida por|se apaga con|arranca con|usa ahora",
        "do": "teclea|marca|pulsa|pon|di|da|introduce|prueba|usa|escribe",
        "after": ".|!| y luego almohadilla.| y tira.| dos veces.| hasta el viernes.| desde el lunes.||, no la fecha.| (solo nosotros).| como siempre.| en el teclado.",
        "who": "el portero|la vecina|mamá|Pablo|el técnico|la tesorera|él|ella|yo",
        "told": "dice|me dijo|me dio|apuntó|recuerda|confirma|me escribió",
        "secret": "código|combinación|PIN|número secreto|cifras|clave de la puerta|código de acceso",
        "word": "contraseña|clave|frase secreta|clave wifi|acceso|palabra secreta",
        "unit": "intentos|veces|llaves|ms|segundos|minutos|horas|días|euros|kilos|gramos|mm|metros|páginas|entradas|errores|usuarios|visitantes|peticiones|líneas|puntos|piezas|personas|votos|archivos|bits|litros|socios|vueltas|llamadas",
        "count": "falló tras|necesitó|costó|cuesta|pesa|aguantó|contó|contiene|tardó|mide|registró|recibió|imprimió|se abrió|tiene|muestra|guarda",
        "result": "devuelve|devolvió|da error|error|código de error|estado|terminó con|falla con|responde",
        "other": "sala|página|taquilla|pedido|factura|expediente|pieza|modelo|versión|puerto|extensión|vuelo|tren|gancho|edificio|asiento|artículo|cliente|línea|capítulo|llave número|código postal|año",
    },
    "it": {
        "thing": "la porta|il cancello|il garage|la cantina|la cassaforte|l'allarme|la tastiera|la cassetta|l'armadietto|il lucchetto|l'ascensore|la sbarra|la cassa|il tablet|il telefono|la stampante|il router|la telecamera|la caldaia|il magazzino|la valigia|il server|la carta|il portale|il disco|la barca",
        "opens": "si apre con|si sblocca con|risponde a|accetta|chiede|vuole|è impostato su|è passato a|funziona con|va con|è protetto da|si spegne con|parte con|usa adesso",
        "do": "digita|premi|inserisci|fai|di'|usa|prova|metti",
        "after": ".|!| e poi cancelletto.| e tira.| due volte.| fino a venerdì.||, non la data.| come sempre.| sulla tastiera.",
        "who": "il portiere|la vicina|mamma|Paolo|il tecnico|lei|lui|io",
        "told": "dice|mi ha detto|mi ha dato|ha scritto|ricorda|conferma",
        "secret": "codice|combinazione|PIN|numero segreto|cifre|codice porta",
        "word": "password|parola d'ordine|frase segreta|chiave wifi|accesso|parola segreta",
        "unit": "tentativi|volte|chiavi|ms|secondi|minuti|ore|giorni|euro|chili|grammi|mm|metri|pagine|voci|errori|utenti|visitatori|richieste|righe|punti|pezzi|persone|voti|file|bit|litri|soci|giri|chiamate",
        "count": "ha fallito dopo|ha richiesto|costa|è costato|pesa|ha retto|conta|contiene|ha impiegato|misura|ha registrato|ha stampato|si è aperto|ha|mostra",
        "result": "restituisce|ha restituito|errore|codice di errore|stato|termina con|fallisce con|risponde",
        "other": "stanza|pagina|armadietto|ordine|fattura|pratica|pezzo|modello|versione|porta|interno|volo|treno|gancio|edificio|posto|articolo|cliente|riga|capitolo|chiave numero|CAP|anno",
    },
    "nl": {
        "thing": "de deur|de poort|de garage|de schuur|de kluis|het alarm|het toetsenpaneel|het sleutelkastje|het kluisje|het fietsslot|de lift|de slagboom|de kast|de kassa|de tablet|de telefoon|de printer|de router|de camera|de ketel|het magazijn|de koffer|de server|de pas|het portaal|de schijf|de boot",
        "opens": "gaat open met|gaat open op|luistert naar|reageert op|accepteert|vraagt om|wil|staat op|is gezet op|is veranderd in|werkt met|is beveiligd met|gaat uit met|start met|gebruikt nu",
        "do": "tik|toets|druk|gebruik|zeg|geef|draai|kies|probeer",
        "after": ".|!| en dan hekje.| en trekken.| twee keer.| tot vrijdag.||, niet de datum.| zoals altijd.| op het paneel.",
        "who": "de conciërge|de buurvrouw|mam|Piet|de monteur|zij|hij|ik",
        "told": "zegt|zei|gaf door|schreef op|weet nog|bevestigt",
        "secret": "code|cijfercode|PIN|combinatie|geheime nummer|cijfers|toegangscode",
        "word": "wachtwoord|wachtzin|wifi-sleutel|codewoord|inlog|toegangswoord",
        "unit": "pogingen|keer|sleutels|ms|seconden|minuten|uur|dagen|euro|kilo|gram|mm|meter|pagina's|regels|fouten|gebruikers|bezoekers|verzoeken|punten|stuks|mensen|stemmen|bestanden|bits|liter|leden|slagen",
        "count": "faalde na|kostte|kost|weegt|hield|telde|bevat|duurde|meet|meldde|printte|ging|heeft|toont|vroeg",
        "result": "geeft fout|gaf|foutcode|fout|status|stopt met|antwoordt met",
        "other": "kamer|pagina|kluisje|bestelling|factuur|dossier|onderdeel|model|versie|poort|toestel|vlucht|trein|haak|gebouw|plaats|artikel|klant|regel|hoofdstuk|sleutel|postcode|jaar",
    },
    "pt": {
        "thing": "a porta|o portão|a garagem|o cofre|o alarme|o teclado|o cacifo|o cadeado|o elevador|a caixa|o tablet|o telemóvel|a impressora|o roteador|a câmara|a caldeira|o armazém|a mala|o servidor|o cartão|o portal",
        "opens": "abre com|desbloqueia com|responde a|aceita|pede|quer|está em|ficou em|mudou para|funciona com|desliga com|usa agora",
        "do": "digita|marca|prime|põe|usa|diz|escreve",
        "after": ".|!| e puxa.| duas vezes.| até sexta.||, não a data.| como sempre.",
        "who": "o porteiro|a vizinha|a mãe|o técnico|ele|ela|eu",
        "told": "diz|disse-me|deu-me|escreveu|lembra|confirma",
        "secret": "código|combinação|PIN|número secreto|dígitos",
        "word": "senha|palavra-passe|frase secreta|chave wifi|acesso",
        "unit": "tentativas|vezes|chaves|ms|segundos|minutos|horas|dias|euros|quilos|gramas|mm|metros|páginas|entradas|erros|utilizadores|visitantes|pedidos|linhas|pontos|peças|pessoas|votos|ficheiros|litros",
        "count": "falhou após|precisou de|custou|custa|pesa|aguentou|contou|contém|demorou|mede|registou|tem|mostra",
        "result": "devolve|devolveu|erro|código de erro|estado|terminou com|falha com|responde",
        "other": "sala|página|cacifo|encomenda|fatura|processo|peça|modelo|versão|porta|extensão|voo|comboio|edifício|lugar|artigo|cliente|linha|capítulo|ano",
    },
}  # fmt: skip

# Frames by language; those of "" suit all. Each has one secret, or none. ``@n`` is a number, ``@p`` a password.
_SECRET_FRAMES = {
    "": (
        "<thing> <opens> «@n»<after>", "<thing> <opens> «@p»<after>", "<thing>: «@n»<after>", "<thing> → «@n»", "<thing> = «@n»", "<thing> («@n»)", "<thing>, <secret> «@n»<after>", "<secret> <thing>: «@n»", "<who> <told> «@n»: <thing>",
        "<do> «@n»<after>", "<thing>? <do> «@n»<after>", "<thing> - <do> «@p»<after>", "<word> <thing>: «@p»", "<thing>, <word> «@p»<after>", "<word>: «@w»", "<word> <thing> = «@w»", "<who>: «@n» (<thing>)", "«@n» <thing>", "<word>: \"«@w»\"<after>",
        "<thing>: <secret> \"«@n»\"<after>", "<word> <thing>:\n«@p»", "{name}: <thing>?\n{name}: «@n»<after>", "{name}: <secret> <thing>?\n{name}: «@n»", "{name}: <word>?\n{name}: «@p»", "{name}: <thing>\n{name}: «@p»<after>", "## <thing>\n\n«@n»", "<thing>\n<secret>\n«@n»", "- <thing>: «@n»\n- <other>: @n\n- <thing>: @n <unit>", "<thing>\n«@n»\n", "<thing>? «@n»<after>",
        "{name}: <thing> <place>?\n{name}: <do> «@n»<after>", "{name}: <other> @n, <thing>?\n{name}: «@n»", "<other> @n, <secret> «@n»<after>", "<other>: @n\n<secret>: «@n»", "<other>: @n\n<word>: «@p»", "<secret> <thing>: «@c»<after>", "<thing>: «@c»", "<thing> <opens> «@c»<after>", "{name} / «@p» (<thing>)", "<thing>: {name} / «@p»", "<thing> - {name} - «@p»", "<secret>, <thing>\n\n«@n»\n", "| <thing> | «@n» |", "| <thing> | <secret> | «@n» |", "<thing>\t<word>\t«@p»", "<thing>: <word> «@w»",
    ),
    "en": (
        "The <thing> <opens> «@n»<after>", "The <thing> <place> <opens> «@n»<after>", "The <thing> <opens> «@p»<after>", "To get into the <thing>, <do> «@n»<after>", "For the <thing> <place> you <do> «@n»<after>", "<do> «@n» and the <thing> opens.",
        "The <secret> for the <thing> is «@n»<after>", "<who> <told> the <thing> <opens> «@n»<after>", "<who> <told> «@p» for the <thing><after>", "«@n» opens the <thing><after>", "«@p» gets you into the <thing><after>", "The <word> of the <thing> is «@p»<after>",
        "<who> set the <thing> to «@n»<after>", "<who> chose «@p» for the <thing>.", "The <thing> <place>: <do> «@n»<after>", "If the <thing> complains, <do> «@n»<after>", "Log in to the <thing> as <name> with «@p»<after>", "Our <word> for the <thing> stays «@w»<after>",
        "The <word> <place> is \"«@w»\"<after>", "We agreed on «@w» as the <word> of the <thing>.", "<who> <told> the <word> is «@w»<after>", "<do> «@w» when the <thing> asks for the <word>.", "The <thing> is encrypted, its <word> reads «@w».",
        "<secret>, <thing> <place>: «@n»", "Since Monday the <thing> <opens> «@n»<after>", "I changed the <secret> of the <thing> to «@n»<after>", "<who> gave me «@n» for the <thing><after>", "The <thing> <opens> user <name> and «@p»<after>", "Account <name>, <word> «@p», for the <thing><after>",
        "The sticker under the <thing> reads «@p»<after>", "A note on the <thing> says «@n»<after>", "<who> wrote «@p» on the back of the <thing>.", "It took me an hour to recall the <word> of the <thing>: «@p»<after>", "Never mail this: the <thing> <opens> «@p»<after>", "Whoever stands in for me <do> «@n» at the <thing><after>",
        "With «@n» you get past the <thing><after>", "With «@p» you get into the <thing><after>", "The <thing>, if it sulks, <opens> «@n»<after>", "Its <word> ought to be «@p»<after>", "Meanwhile the <thing> <opens> «@p», not the old one.", "<who> and I share «@p» for the <thing>.", "As <word> <who> picked «@p»<after>", "As <secret> <who> picked «@n»<after>",
        "The <thing> came with «@p» from the factory.", "Out of the box the <thing> <opens> «@n»<after>", "<who> <told> the <thing> still has «@p»<after>", "After the reset the <thing> is back to «@n»<after>", "The <thing>'s <word>, «@p», is on the list.", "The <thing>'s <secret> (<place>) is «@n»<after>", "<thing> <place>: user <name>, <word> «@p»",
        "<who> needs «@n» for the <thing><after>", "Do not forget «@n» for the <thing><after>", "Found it: «@p» is what the <thing> asks for.", "Nobody but us knows that «@n» <place> opens the <thing>.", "<who> <told> me to <do> «@p» at the <thing><after>", "the <thing> <place> has «@n» as its <secret>", "We keep «@p» for the <thing>, rotated each spring.",
        "The new <word> (\"«@w»\") works for the <thing>.", "<who> spelled the <word> as «@w», all lower case.", "The <word> is a row of words: «@w»<after>", "The <word>, without the quotes: '«@w»'", "<do> the <word> «@w» into the <thing>.", "To decrypt the <thing>, <do> «@w».", "The backup of the <thing> unlocks with «@w»<after>",
    ),
    "de": ("<secret> für <thing> ist «@n»<after>", "Das <word> lautet «@w»<after>", "<who> <told>, <thing> <opens> «@n»<after>", "Für <thing> gilt «@n»<after>", "Mit «@n» kommt man rein, <thing><after>", "Als <word> haben wir „«@w»“ vereinbart.", "<thing>: Benutzer <name>, dann «@p»<after>", "Seit heute: <thing> <opens> «@n»<after>"),
    "fr": ("Le <secret> pour <thing> est «@n»<after>", "Le <word> c'est «@w»<after>", "<who> <told> que <thing> <opens> «@n»<after>", "Pour <thing>, <do> «@n»<after>", "<word> : « «@w» »<after>", "<thing> : utilisateur <name>, <word> «@p»<after>"),
    "es": ("El <secret> de <thing> es «@n»<after>", "La <word> es «@w»<after>", "<who> <told> que <thing> <opens> «@n»<after>", "Para <thing>, <do> «@n»<after>", "<thing>: usuario <name> y «@p»<after>"),
    "it": ("Il <secret> per <thing> è «@n»<after>", "La <word> è «@w»<after>", "<who> <told> che <thing> <opens> «@n»<after>", "Per <thing>, <do> «@n»<after>", "<thing>: utente <name> e «@p»<after>"),
    "nl": ("De <secret> van <thing> is «@n»<after>", "Het <word> is «@w»<after>", "<who> <told> dat <thing> <opens> «@n»<after>", "Voor <thing>: <do> «@n»<after>"),
    "pt": ("O <secret> para <thing> é «@n»<after>", "A <word> é «@w»<after>", "<who> <told> que <thing> <opens> «@n»<after>", "Para <thing>, <do> «@n»<after>"),
}  # fmt: skip
_HARMLESS_FRAMES = {
    "": (
        "<thing> <count> @n <unit>.", "<thing> <count> @n <unit>, <other> @n", "<thing>: @n <unit>", "<thing> <result> @n.", "<thing> <result> @n, <other> @n", "<thing>: <other> @n", "<other> @n, <thing>", "<other> @n: <thing> <count> @n <unit>", "@n <unit>: <thing>", "<thing> (@n <unit>)",
        "<secret> <result> @n", "<word> <result> @n", "<secret>: @n <unit>", "<word>: @n <unit>", "<who> <told>: @n <unit>", "| <thing> | @n <unit> |", "| <other> | @n |", "<other> | <thing>\n@n | x", "<other>\n\n@n\n", "<word>, <other> @n", "<secret>, <other> @n", "<thing>, <other>: @n",
        "<thing> @v", "<thing>, 20@2", "<thing>: @m", "@h <thing>", "<word>: @h", "<thing> <count> @n", "@i: <thing>", "<thing> @i", "<result> @n", "<result> @n: <thing>", "{name}: <other>, <thing>?\n{name}: @n", "{name}: <unit>?\n{name}: @n", "{name}: <thing> <count>?\n{name}: @n <unit>", "## <other>\n\n@n", "<thing>\n<other>\n@n", "<thing>\n@n <unit>\n", "{name}: <thing>?\n{name}: <count> @n <unit>", "<other>: @c", "<thing> @c", "<thing>: @n <unit>, @n <unit>", "<thing> / <other> @n", "<other> @i", "@i <word>",
    ),
    "en": (
        "The <thing> <count> @n <unit>.", "The <thing> <place> <count> @n <unit>.", "The key of the <thing> <count> @n <unit>.", "The <thing> <result> @n.", "The <thing> <result> @n <place>.", "We <count> @n <unit> at the <thing>.", "After @n <unit> the <thing> opened.", "The <secret> was tried @n times.",
        "The <word> prompt <result> @n.", "<who> <told> the <thing> <count> @n <unit>.", "The <thing> is in <other> @n.", "<other> @n is about the <word>.", "Only @n of @n <unit> were left.", "The <thing> dates from 19@2.", "The <thing> closes at @t.", "Call the <thing> shop: @f.", "commit @h fixes the <word> of the <thing>",
        "The new key <result> @n", "key @k <result> @n", "The <thing> was bought for @n <unit> in <other> @n.", "The <secret> is in <other> @n.", "The <word> changed @n <unit> ago.", "<other> @n, <secret> not known", "@n <unit> for a <thing>", "<thing> model @m, @n <unit>",
    ),
    "de": ("Nach @n <unit> ging <thing> auf.", "<other> @n: <thing> <count> @n <unit>.", "<who> <told>, <thing> <count> @n <unit>.", "Der <secret> steht auf <other> @n.", "Das <word> wurde @n mal geändert.", "<thing> stammt von 19@2."),
    "fr": ("Après @n <unit>, <thing> a cédé.", "<who> <told> que <thing> <count> @n <unit>.", "Le <secret> est à la <other> @n.", "<thing> date de 19@2."),
    "es": ("Tras @n <unit>, <thing> cedió.", "<who> <told> que <thing> <count> @n <unit>.", "El <secret> está en la <other> @n.", "<thing> es de 19@2."),
    "it": ("Dopo @n <unit>, <thing> ha ceduto.", "<who> <told> che <thing> <count> @n <unit>.", "Il <secret> è a <other> @n.", "<thing> è del 19@2."),
    "nl": ("Na @n <unit> ging <thing> open.", "<who> <told> dat <thing> <count> @n <unit>.", "De <secret> staat op <other> @n."),
    "pt": ("Após @n <unit>, <thing> cedeu.", "<who> <told> que <thing> <count> @n <unit>.", "O <secret> está na <other> @n."),
}  # fmt: skip
_SLOT = re.compile(r"<([a-z]+)>")
_VALUE = re.compile(r"@([a-z2])(?![a-z])")
_ENGLISH = 0.5  # share of the sentences
_SECRETS = 0.5
_JOINED = 0.25  # share of the sentences that stand next to a harmless one
_VALUES = {
    "n": ("{digit:4}", "{digit:4}", "{digit:4}", "{digit1:1}{digit:2}", "{digit:5}", "{digit:6}"),
    "p": ("{pass}",),
    "w": ("{phrase} {word}", "{word} {word} {word}", "{word}-{word}-{word}", "{pass}", "{word}{digit:2}", "{word} {word} {word} {word}"),
    "v": ("{digit1:1}.{digit:1}.{digit:2}", "v{digit:2}.{digit:3}", "{digit:5}.{digit:4}"),
    "m": ("{thing}", "{order}", "{upper:2}-{digit:4}"),
    "h": ("{hex:7}", "{hex:10}", "{hex:40}", "{hex:64}", "{uuid}"),
    "i": ("{order}", "{uuid}", "{digit:8}", "{digit1:1}.{digit:3}", "{digit:2}/{digit:4}"),
    "k": ("{digit1:1}", "{digit:3}", "{upper:1}{digit:1}"),
    "t": ("1{digit:1}30", "21:{digit:2}", "0{digit:1}45"),
    "f": ("0171 {digit:7}", "+49 30 {digit:6}", "01 42 {digit:2} {digit:2} {digit:2}"),
    "2": ("{digit:2}",),
    "c": ("{digit:4}A", "{digit:4}B", "A{digit:4}", "{digit:2}A{digit:2}", "B{digit:2}C{digit:1}", "{digit:3}-{digit:3}", "{digit:2}-{digit:2}-{digit:2}", "*{digit:4}#", "{digit:4}#", "{digit:2} {digit:2} {digit:2}"),
}  # fmt: skip

# Names in programs, which no secret resembles less than its neighbours do.
_NAME_PARTS = (
    "create|get|list|update|delete|is|has|allow|validate|convert|parse|load|reset|check|read|max|min|default|new|use",
    "user|token|key|password|secret|access|login|lock|code|pin|font|info|type|value|char|int|least|fast|mem|flow|data|role|pool|input|output|query|trade|untyped|stored|key-value",
    "name|policy|defs|type|offs|stores|coercer|parser|clause|preview|version|version2|set|t|8_t|16_t|32_t|for_field|with_role|attribute|limit|count|size|and-their-uses|2|v4|of-the-art",
)  # fmt: skip
_PROGRAM_FRAMES = (
    "@a = @n", "@A = @n, \"Text\"", "'@a': 'i',", "\"@a\": @n,", "class @C(@C):", "# @a, see @b", "@a = @a(@b)", "('@C', '-'): '@b',", "- @b\n- @b", "@b", "the @b of the @a", ":func:`@C` and @C", "x = @n\ny = -@n", "@A=@n\n@A=@n", "@a;@h\n@a;0@n",
    "import @a, @a", "@C | None", "syntax='@a'", "self.@a = @a  # @n", "@b: @n", "[@a]\n@a = @n", "#define @A 0x@n", "enum {{ @A = @n, @A = @n }}", "@a[@n]", "@C#@a",
)  # fmt: skip
_PROGRAMS = 0.12  # share of the sentences


def _program(chance: Random) -> str:
    def name(match: re.Match[str]) -> str:
        words = "-".join(chance.choice(part.split("|")) for part in _NAME_PARTS[chance.randint(0, 1) :])
        if match[1] == "b":
            return words
        words = words.replace("-", "_")
        if match[1] == "C":
            return "".join(word.capitalize() for word in words.split("_"))
        return words.upper() if match[1] == "A" else words

    return re.sub("@([aAbC])", name, chance.choice(_PROGRAM_FRAMES))


def sentences(chance: Random, number: int) -> Iterator[str]:
    """Yield *number* templates with the secrets between « and »."""
    others = [name for name in _WORDS if name != "en"]
    for _ in range(number):
        language = "en" if chance.random() < _ENGLISH else chance.choice(others)
        if chance.random() < _PROGRAMS:
            yield _valued(chance, _program(chance))
            continue
        frames = _SECRET_FRAMES if chance.random() < _SECRETS else _HARMLESS_FRAMES
        own = frames[language] if chance.random() < 0.6 else frames[""]
        text = _drawn(chance, chance.choice(own), _WORDS[language])
        if chance.random() < _JOINED:
            other = _drawn(
                chance, chance.choice(_HARMLESS_FRAMES[chance.choice(("", language))]), _WORDS[language]
            )
            text = chance.choice(("\n", " ", "\n\n")).join(chance.sample((text, other), 2))
        yield text


def _drawn(chance: Random, frame: str, words: dict[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        if match[1] == "name":
            return "{name}"
        return chance.choice(words.get(match[1], "").split("|"))

    text = _valued(chance, _SLOT.sub(word, frame))
    return text[:1].upper() + text[1:] if chance.random() < 0.6 and text[:1].isalpha() else text


def _valued(chance: Random, text: str) -> str:
    return _VALUE.sub(lambda match: chance.choice(_VALUES[match[1]]), text)
