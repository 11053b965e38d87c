"""Classes of words around a value, in seven languages: units, results, numbered things, locks, labels, verbs of opening."""

from __future__ import annotations

from functools import cache, lru_cache

# Lower case and without accents, as `clawmem.domain.security.disguise.plain` writes them. The first class of a word counts.
_CLASSES = {
    "unit": """tries attempts times time keys ms seconds secs sec minutes min hours days weeks months years euro euros dollars pounds kg kilos gramm grams mm cm metres meters
        pages entries events errors users visitors requests lines rows tokens points steps units pieces people persons votes records files bytes words members locks logins notes cycles calls
        visits accounts openings bits litres liters copies rounds turns tests guests commits characters chars items messages sessions tickets records samples percent degrees kb mb gb hz watt
        watts volts miles yards feet inches cents yen crowns doors passwords secrets codes pins cards devices failures hits queries jobs threads processes connections bytes
        versuche versuchen mal schlussel sekunden minuten stunden tage tagen wochen monate monaten jahre jahren meter seiten eintrage fehler nutzer besucher anfragen zeilen punkte stuck
        leute stimmen dateien bit liter mitglieder umdrehungen anrufe offnungen fehlversuche buchungen zeichen personen prozent grad franken
        essais tentatives fois cles secondes heures jours semaines mois ans annees kilos grammes metres entrees erreurs utilisateurs visiteurs requetes lignes pieces personnes voix fichiers
        litres membres tours appels ouvertures caracteres francs intentos veces llaves segundos minutos horas dias semanas meses anos gramos metros paginas entradas errores usuarios
        visitantes peticiones lineas puntos piezas personas votos archivos litros socios vueltas llamadas caracteres pesos tentativi volte chiavi secondi minuti ore giorni settimane mesi anni
        chili grammi metri pagine voci errori utenti visitatori richieste righe punti pezzi persone voti litri soci giri chiamate caratteri pogingen keer sleutels seconden uur uren dagen
        weken maanden jaar kilo gram regels fouten gebruikers bezoekers verzoeken stuks mensen stemmen bestanden leden slagen tekens tentativas vezes chaves quilos gramas erros utilizadores
        pedidos linhas pontos pecas pessoas ficheiros senhas""",
    "result": """fails failed failing returned returns return error errors exit exited status answers answered replied replies responded responds crashed signal warning fault http sqlstate
        took takes counted logged reported reports weighs weighed cost costs lost gained saved served handled rejected refused denied produced measured after total sum fehler fehlercode meldet
        meldete antwortet scheitert endet bricht kostet kostete wiegt brauchte zahlte misst erreur statut renvoie renvoye affiche echoue coute pese estado devuelve devolvio fallo falla cuesta
        costo pesa tardo errore stato restituisce restituito fallisce fout foutcode kost kostte weegt geeft erro devolve falhou custou demorou gave produced only of about almost nearly over
        under ungefahr fast etwa knapp rund environ presque casi unos quasi circa bijna ongeveer cerca""",
    "numbered": """room page locker order invoice ticket case part model serial version build port extension flight train bus hook drawer building seat article customer member row issue pr
        chapter channel lot batch folder shelf stand platform apartment flat house box postcode zip year isbn phone tel fax line id pid uid commit revision rev sha hash checksum md5 sha256
        vlan iban account invoice figure table book section paragraph floor hall street road avenue drive raum seite spind auftrag rechnung fall teilenummer modell durchwahl flug zug haken fach
        gebaude platz artikel kunde zeile kapitel hausnummer postleitzahl baujahr halle telefon zimmer nummer salle casier commande facture dossier piece modele poste vol crochet batiment
        place client ligne chapitre annee appartement telephone sala taquilla pedido factura expediente pieza modelo puerto vuelo tren gancho edificio asiento articulo cliente linea capitulo
        ano telefono stanza pagina armadietto ordine fattura pratica pezzo modello versione interno volo treno gancio edificio posto articolo riga capitolo kamer bestelling factuur onderdeel
        versie toestel vlucht trein haak gebouw regel hoofdstuk encomenda fatura processo peca comboio lugar""",
    "label": """code codes pin password passwort kennwort passphrase passcode combination pw pwd pass login credentials secret key token keyphrase codeword kombination zahlenkombination
        geheimzahl ziffern losung zugang zugangscode zugangsdaten schlussel mot mdp combinaison digicode cle jeton identifiant contrasena clave codigo combinacion codice combinazione parola
        chiave wachtwoord cijfercode sleutel combinatie senha combinacao chave digits number numbers figures word phrase cifre cifras chiffres""",
    "lock": """door gate garage shed barn safe alarm keypad lockbox locker padlock lock lift barrier cabinet tablet phone kiosk terminal till printer router nas camera intercom thermostat wifi
        wlan tur tor haustur schuppen tresor alarmanlage schliessfach spind schloss fahrradschloss aufzug schranke schrank kasse handy drucker kamera porte portail coffre alarme cadenas
        antivol ascenseur barriere caisse tablette imprimante puerta portal garaje trastero alarma candado ascensor barrera tableta movil impresora porta cancello cassaforte allarme
        lucchetto ascensore stampante deur poort schuur kluis slot fietsslot slagboom portao cofre cadeado vault siren panel laptop computer voicemail sim card wallet backup account portal""",
    "opens": """opens open opened unlocks unlock responds obeys accepts accept wants needs expects asks demands type enter punch dial press tap use uses supply quote answer disarm disarms
        set reset changed change programmed released silenced armed log sign in boots decrypt decrypts encrypted protected secured offnet offnen reagiert verlangt tippe tippen gib eingeben
        drucken wahlen eingestellt geandert gesichert entsperrt ouvre ouvrir deverrouille tape tapez compose composer saisir saisis regle demande exige abre abrir desbloquea teclea marca
        marcar pulsa introduce cambio apre aprire sblocca digita digitare premi inserisci impostato gaat toets toetsen tik druk gezet veranderd beveiligd digitar mudou desbloqueia""",
    "small": """a an the and or to from on at by for with when if until before after since then now again please but so as is are was were be it its this that these those he she we you they i
        in into off up not no nothing only just still always never here there und oder dann bis seit wenn ab bei mit fur von zu zum zur im am auf ist war das die der dem den ein eine nicht nur
        noch immer et ou puis quand si jusqu depuis avec pour de du le la les un une est pas y o luego cuando si hasta desde con para de del el la los las un una es no solo e poi quando se
        fino da dal con per di il lo la gli un una non en of dan als tot sinds met voor van het de een is niet e ou depois quando ate desde com para do da o os as um uma""",
}  # fmt: skip


TELLING = frozenset(_CLASSES) - {"small"}
_ENDINGS = range(
    8, 3, -1
)  # lengths of the parts that tell the class of a compound: "Kellerschloss", "Zugangscode"


@cache
def _known() -> dict[str, str]:
    return {word: name for name, words in reversed(_CLASSES.items()) for word in words.split()}


@lru_cache(20_000)
def class_of(piece: str) -> str:
    """Return the class of *piece*: of a known word or compound its name, of another "word", of a sign the sign itself."""
    known = _known()
    if piece in known or not piece[0].isalpha():
        return known.get(piece, piece)
    endings = (known.get(piece[-size:]) for size in _ENDINGS if size + 2 < len(piece))
    return next((name for name in endings if name in ("label", "lock")), "word")
