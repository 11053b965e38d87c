"""
Cue words of instructions to an assistant, in nine languages, and the combinations of cues that form an instruction.

A cue is a list of alternative expressions. They are matched against text on one line, without case, accents and disguise
(see `disguise`). ``~`` matches at most 40 characters within one sentence. Chinese and Japanese cues are matched
against the original text, because these scripts do not separate words.
"""

from __future__ import annotations

import re
from functools import cached_property
from types import MappingProxyType


class Cue:
    """One kind of evidence: *words* for scripts that separate words, and *unspaced* patterns for those that do not."""

    def __init__(self, words: str, unspaced: str = "") -> None:
        self._words = words
        self._unspaced = unspaced

    @cached_property
    def words(self) -> re.Pattern[str]:
        """Expression for normalised lower-case text."""
        joined = "|".join(line.strip() for line in self._words.strip().splitlines())
        spaced = joined.replace("~", r"[^.!?;]{0,40}?")
        return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)")

    @cached_property
    def unspaced(self) -> re.Pattern[str] | None:
        """Expression for the original text; None without *unspaced* patterns."""
        return re.compile(self._unspaced) if self._unspaced else None


_RULES = (
    r"(?:instructions?|guidelines?|guidance|rules?|directives?|directions|orders|constraints?|restrictions?|polic(?:y|ies)"
    r"|guardrails?|limits|filters?|prompts?|configuration|limitations|commands?)"
)
_PRIOR = r"(?:previous|prior|earlier|above|initial|original|standing|preceding|existing|former)"
_SECRETS = (
    r"(?:passwords?|passphrases?|credentials?|private keys?|(?:access|session|auth\w*|bearer) tokens?|api keys?|secret keys?"
    r"|signing keys?|saved keys|keys|session cookies?|cookies|secrets|seed phrase|login data)"
)

CUES = MappingProxyType(
    {
        "assistant": Cue(
            r"""
            (?<!our )(?:ai|llm|language|coding|chat) (?:assistants?|agents?|models?|tools?|bots?|systems?)
            (?<!our )(?:assistants?|agents?|models?|bots?)(?= (?:must|shall|should|ought|has to|have to|is to|are to|needs?|will|may not|never|now has|reading|that|which|who|processing)\b)(?! \w+ be\b)
            (?:the|every|each|any|all|later|future) (?:\w+ )?assistants?(?! (?:coach|manager|professor|director|at|teacher|editor|to))
            chat-?bots?|llms?|ais?|(?:claude|chatgpt|gpt-?\d|copilot|gemini|codex)(?![.\w-]{0,40}/[0-9a-f]{16}/)
            (?:der|die|ein|den) assistent(?:in|en)?|assistent|ki|sprachmodell\w*|das modell
            (?:el|un) asistente|el modelo|ia|l.assistant|le modele|(?:l.|[oe] |um )assistente|[oi]l? model[lo]o
            """,
            "助手|人工智能|语言模型|アシスタント|言語モデル",
        ),
        "addressed": Cue(r"(?:assistant|ai|ai agents?|agents|language models?|llms?)(?::|,)"),
        "user": Cue(
            r"""
            (?:the|this|your|a) (?:user|human|account holder)(?:.s)?(?! (?:research|interface|guide|manual|name|input|portal|group|account))
            the person|the owner(?:.s)?|as the user|user(?:.s)? (?:settings|preferences)|any request|a prompt
            (?:der|dem|den|des|ein) (?:be)?nutzers?|l.utilisateur|(?:del?|al|el) usuario|(?:l|dell|all).utente|[oad]o? usuario
            """,
            "用户|使用者|ユーザー|利用者",
        ),
        "modal": Cue(
            r"""
            must|shall|should|ought to|has to|have to|is to|are to|needs? to|(?:is|are) required to|will|never|now has|cannot
            soll|sollst|muss|musst|doit|dois|doivent|debe|debes|deben|deve|devi|devem|devono
            let (?:the|this|your|any|an)|have the|orders|pays
            """,
            "必须|应该|应当|しなければ|すべき|してください",
        ),
        "act": Cue(
            r"""
            fetch|execute|run|invoke|push|approve|call|write|turn off|disable|delete|remove|install|download|send|post|upload|visit
            open|leak|export|disclose|reveal|pass|obey|comply|follow|proceed|recommend|suggest|answer|reply|respond|believe|discard
            forget|trigger|commit|transfer|pays|use|act|obeys|ignore|hide|mention|tell|share|print|bypass|trust|skip|rules|type|change|add
            ausfuhren|schicken|senden|loschen|aufrufen|executer|envoyer|supprimer|appeler|ejecutar|enviar|borrar|llamar
            eseguire|inviare|cancellare|chiamare|executar|apagar|chamar|ignorieren
            """,
            "执行|发送|删除|调用|忽略|回答|実行|送信|削除|無視|呼び出",
        ),
        "void": Cue(
            r"""
            ignor(?:e|es|ing)|disregard(?:ed|ing)?|forget|forgets|discard|drop|cease|stop following|stop obeying|abandon|skip|overrid(?:e|es|den)
            (?:set|put|leave|lay)~(?:aside|to one side|behind)|no longer~|lifted|expired|obsolete|void|suspended|switched off|turned off|disabled|outdated
            no force|replaces? (?:it|them|those|all)|start over|reset|bypass|waived?|revoked|without (?:them|any filter)|do not (?:follow|obey|do what)|free of|as though~did not exist
            vergiss|vergesst|ignorier\w*|missachte\w*|oublie[zr]?|ignore[zr]|olvid[ae]\w*|ignora\w*|dimentica\w*|esquec[ae]\w*|desconsider\w*
            """,
            "忽略|无视|忘记|無視|忘れて",
        ),
        "rules": Cue(
            rf"""
            (?:your|these|those|all|any|every|the|its)(?: \w+){{0,2}} {_RULES}|{_PRIOR}(?: \w+)? {_RULES}
            (?:safety|security|content) (?:polic(?:y|ies)|filters?|rules?)|initial prompt|current task|present assignment|earlier commands
            {_RULES} (?:you|from the first|that you|received|given)|your (?:limits|filters|guardrails|ethics|makers)|{_PRIOR} prompt|guardrails
            (?:alle|die|deine|vorherige\w*|bisherige\w*) (?:regeln|anweisungen|vorgaben|instruktionen|befehle)|(?:toutes )?(?:les|tes|vos) (?:consignes|regles|instructions)
            (?:las|tus|todas las) (?:reglas|instrucciones|ordenes)|(?:le|tutte le|tue) (?:istruzioni|regole)|[at]s (?:\w+ )?(?:instrucoes|regras|ordens)
            """,
            "指令|指示|规则|命令|ルール",
        ),
        "prior": Cue(
            rf"""
            {_PRIOR}|before this|so far|at the (?:beginning|top|start)|everything~(?:above|told|said|before)|(?:were|was|been|have) (?:told|given|asked|set)|you (?:got|received|started with|had)
            what the (?:person|user|operator|developer)|what you were|whatever you|first message|your (?:current|present|initial|first)
            vorher|bisher\w*|bekommen|recues|precedentes?|anteriores|precedenti
            """,
            "之前|以前|先前|これまで|以前の",
        ),
        "this": Cue(
            r"""
            (?:this|these) (?:page|text|file|document|note|notice|paragraph|message|mail|ticket|block|line|lines|directions|advertisement|sentence|one|rule)s?
            the (?:list|next|following|line|lines|one|text|new)(?: \w+){0,2} (?:below|line|one|ones|one described here|that follows|here)
            as i say|below|new (?:objective|ones|rules|instructions)|the following(?: \w+)?|on this page|described here|instead|section \w+|only|freely|accordingly
            dieser? (?:seite|text|nachricht)|(?:de )?cette page|este texto|esta mensagem|nur noch|come amministratore|rispondi
            """,
            "本页|以下|只按照|この文章|以下の",
        ),
        "role": Cue(
            r"""
            pretend|imagine (?:that )?you|act (?:as|like)|behave (?:as|like)|play (?:the )?(?:part|role)|play a game|take on the (?:persona|role|identity)|assume the role
            (?:stay|remain|be) in character|simulate|speak as|(?:respond|answer) as|as a model|you are (?:\w+ )?(?:now|no longer|henceforth)|new identity|switch to|role-?play
            from this point you|twin of yourself|in this story|in that part|continue the story|you will play
            du bist (?:ab sofort|jetzt|nun|von nun an)|tu es (?:desormais|maintenant)|(?:ahora|a partir de ahora) eres|(?:ora|adesso) sei|(?:agora )?voce e agora|agora voce e
            """,
            "你现在是|假装|扮演|ふりをして|あなたは今から|になりきって",
        ),
        "unbound": Cue(
            r"""
            (?:no|without(?: any| a)?|free of|broken free|never) (?:\w+ )?(?:rules|limits|filters?|polic(?:y|ies)|ethics|restrictions|censorship|declines|refuses)
            unrestricted|uncensored|jailbr\w*|anything at all|every request is granted|full permissions|root|administrator|hacker|evil|darkbot|dan|exploits?
            broken free|ignores what|passwords|activation keys|hidden prompt|(?:this|the) page says|so-called ethics|unfiltered|serial numbers
            an ai|assistent ohne|(?:ohne|sans|sin|senza|sem)(?: \w+)? (?:einschrankungen|regeln|limite?s?|filtros?|restricciones|regole|limiti|regras|limites|restricoes)
            """,
            "没有任何限制|不受限制|制限のない|制限なし",
        ),
        "trigger": Cue(
            r"""
            next time|when(?:ever)?|once|as soon as|the moment|if|from now on|from here on|in (?:all )?(?:later|future)|during future|on each future|each time|every time|upon|should|wait until|until|after
            starting (?:today|tomorrow|now)|for later|from the \w+ of \w+ on|sobald|wenn|das nachste mal|la prochaine fois|des que|quand|cuando|la proxima vez|la prossima volta|quando|sempre que|da proxima vez
            """,
            "下次|当|以后|次に|たら|今後",
        ),
        "asks": Cue(
            r"""
            (?:the user|the person|someone|somebody|anyone|anybody|a developer|a user|they|the human|whoever|the owner|whenever~)~(?:asks?|mentions?|requests?|wants?|brings? up|bring up|says?|opens?|talks?|writes|types)
            (?:asked|asks|prompted|questioned) (?:about|for|to|whether|by)|(?:appears|occurs|shows up) in a (?:prompt|question|message)|(?:is|are) (?:discussed|mentioned|brought up)
            (?:more|next|later|future|\w+) (?:questions?|requests?|prompts?)|any question|later sessions|future (?:sessions|conversations|chats|request\w*)|word \w+ appears
            nutzer~fragt|benutzer~fragt|utilisateur~demande|usuario (?:pregunte|pida|perguntar|pedir)|utente (?:chiede|domanda)
            """,
            "用户(?:问|提)|ユーザーが[^。]{0,20}(?:質問|聞|尋)",
        ),
        "says": Cue(
            r"""
            answer|answers|reply|respond|say|says|tell|recommend|recommending|suggest|propose|steer|give|gets the answer|make up|mention|delete|run|send|replace|slip|copy|begin each|begin every|switch to|write|add|insert|link to|claim|deny|insist
            antworte|empfiehl|sag|sage|recommande|reponds|dis|responde|recomienda|di|proponi|rispondi|diga|responda|recomende
            """,
            "回答|推荐|说|勧め|答え|言",
        ),
        "pending": Cue(
            r"""
            (?:in|during) (?:all |any |your )?(?:later|future) (?:sessions|conversations|chats)|from (?:now|today|here|tomorrow) on,? (?:you|all your|your|always reply)|starting (?:today|tomorrow|now),? you|you (?:also )?(?:send|are to)~from now
            from now on,? you|from now on~your (?:answers|replies)|all your (?:answers|replies|responses)|begin (?:each|every) (?:reply|answer|response)|to every (?:page|file|answer|reply) you|(?:each|every) time~you (?:also )?(?:send|add|copy)|tell every(?:one|body)~moved to
            keep this in mind for later
            """,
        ),
        "transfer": Cue(
            r"""
            sends?|post|e-?mail|mail|upload|forward|transmit|submit|share|leak|copy|append|include|hand(?: \w+)? over|hand|gives?|export|exfiltrate|encode|embed|print|reveal|disclose|quote|list|collect|put|insert|repeat|output|shows?
            tell|pass|divulge|expose|read|recite|add a link|holds|write out|enter|deliver|relay|take|dump
            schick\w*|sende\w*|ubermitt\w*|leite|lade|verrate|envoie[zr]?|envoyez|transmets|envia|envie|manda|invia|inoltra|mostra|revela
            """,
            "发送|发给|上传|转发|告诉|送信|送って|転送|教えて",
        ),
        "private": Cue(
            rf"""
            {_SECRETS}|id_rsa|\.?env(?: file)?|\x7e/\.\w+\S*|environment variables|(?:chat|conversation) history|(?:whole|entire|this) conversation|customer list|home address|workspace
            (?:your|the user.s|stored|hidden|confidential) (?:memory|notes|data|files|details|contacts)|notes in your memory|everything you know|all contacts|the vault|comes by
            passw[oö]rt\w*|(?:mots?|clave|chave)(?: de passe| privada)?|schlussel|zugangsdaten|verlauf|contrasenas?|senhas?|cronologia|password|\.env an
            """,
            "密码|密钥|凭据|聊天记录|パスワード|秘密鍵|会話履歴",
        ),
        "prompt_text": Cue(
            r"""
            system prompt|(?:hidden|initial|confidential|secret|own hidden|first|original)(?: \w+)? (?:prompt|instructions)|(?:instructions|rules|text|prompt|orders) (?:you were|that you were|you have been|you are) (?:given|told|shown)
            your (?:system )?(?:instructions|configuration|prompt|system prompt|context window|memory|initial message)|their instructions|(?:precedes|above) this (?:note|message|text)|first message of this|notes in your memory
            """,
            "系统提示|システムプロンプト",
        ),
        "destination": Cue(
            r"""
            https?://\S+|[\w.+-]{1,40}@[\w.-]{1,60}|web-?hooks?|your (?:answer|reply|response|output|next)|the (?:next )?(?:link|image|picture)(?: you)?|query string|picture link|markdown image|paste site|web form|our (?:host|mirror|server|site|shop|support|paste)
            \d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|(?:this|the|our|following) (?:address|endpoint|partner endpoint|form)|address (?:below|holds)|(?:an|this) endereco|questo indirizzo
            in the answer|to me|mir|comment field
            """,
            "https?://|地址|アドレス",
        ),
        "reply": Cue(
            r"""
            (?:before|prior to|when|while|after|until) (?:you(?: \w+)? )?(?:answer|answering|reply|replying|respond|responding|summari[sz]\w+|go on|continue)\b
            your (?:\w+ )?(?:reply|replies|answers?|responses?|summary|output|report)|(?:each|every|all) (?:reply|answer|response)s?|in every reply
            bevor du antwortest|antes de (?:contestar|responder)|avant de repondre|prima di rispondere
            """,
            "回答(?:之)?前|回答する前",
        ),
        "own_tool": Cue(
            r"""
            (?:use|with|through|via|by|using|open|from) your (?:\w+ )?(?:shell|terminal|browser|tools?|sandbox|command line|editor|file system|interpreter|terminal access)(?! (?:profile|config\w*|settings))|your \w+ tool|its (?:\w+ )?tools?|(?:make|issue|perform) a tool call|tool you call
            (?:call|invoke|use|run|trigger)~(?:deletion|delete|search|bash|shell|command|file|editor|web|package|memory|mail|payment|browser|http) (?:tool|function)|using the \w+ tool|with the \w+ tool|access to a (?:browser|shell|terminal|tool)
            (?:call|invoke|use|run|trigger|be|the) (?:the )?(?:delete|write|send|transfer|memory|forget|remove|exec|execute|fetch|http|read|shell|deploy|push|approve|create|update|pay|drop|edit|upload)_\w+(?!\()|trigger the \w+ function
            (?:das|dein|el|la|l|o|a|il|lo|une?|un)(?: |.)(?:werkzeug|herramienta|strumento|ferramenta|outil)(?: \w+)?
            """,
            "工具|终端|ツール|ターミナル",
        ),
        "tool_effect": Cue(
            r"""
            delet\w+|remove|execute|run|bash|shell|curl|wget|sudo|rm -rf|chmod|approve|pull request|commit|transfer_\w+|force|helper|cron|settings|install|push|deploy|invoices?|bashrc|query|note|notes|team|disable|root|argument|visit
            loschen|borrado|effacer|cancellazione|apagar
            """,
            "删除|执行|削除|実行",
        ),
        "remember": Cue(
            r"""
            remember|memori[sz]e|store|save|saved|record|keep|add|write|log|persist|commit|retain|update|overwrite|erase|replace|mark|make a note|note|forget|is wrong|believe
            merke?|speicher\w*|souviens|retiens|recuerda|guarda|ricorda|lembre|guarde|memorizza
            """,
            "记住|保存|覚えて|記憶",
        ),
        "memory": Cue(
            r"""
            (?:long-term|your|the|in|to|memory) memory|memory store|permanently|for good|forever|across (?:all )?sessions|(?:a|as a) preference of|user.s (?:preferences|profile)|profile of the user|your (?:notes|knowledge|future self|long-term memory)|future self
            (?:saved|stored|memory) (?:entry|entries|decision|note|notes|fact)|your knowledge about|what you (?:remember|have saved|saved|know)|as a (?:fact|preference)|most trusted|all notes on|later assistants|this rule across|memorise that the user
            dauerhaft|para siempre|per sempre|pour toujours|para sempre|dir dauerhaft
            """,
            "永远|永久|ずっと|永続",
        ),
        "own_memory": Cue(
            r"""
            (?:your|in your|to your|from your) (?:long-term )?(?:memory|notes|knowledge|memory store)|what you (?:remember|have saved|saved|know)
            (?:your )?future self|(?:all )?later (?:assistants|sessions)|across (?:all )?sessions
            """,
        ),
        "claim": Cue(
            r"""
            (?:the )?(?:user|owner)(?:.s)? (?:has |had |have )?(?:already )?(?:agreed|approved|authori[sz]ed|allowed|trusts|confirmed|consented|permits|waived|wants answers without|e-mail is)
            (?:authori[sz]ed|approved) in advance|all purchases|counts? as approval|only approved|not needed any ?more|review~passed|(?:removed|skipped|switched off) by the owner|backups are switched off|sent to our|trust (?:anything|everything|all)
            (?:be)?nutzer~zugestimmt|utilisateur~(?:accepte|autorise)|usuario~autoriz\w+|utente~(?:autorizzato|approvato)
            """,
            "用户[^。]{0,10}同意|ユーザー[^。]{0,10}(?:同意|許可)",
        ),
        "authority": Cue(
            r"""
            (?:system|admin|root|developer|operator) (?:notice|message|override|directive|alert)|\[(?:system|admin|root|developer)\]|# system|<\|?(?:im_start|system)\|?>|im_start
            (?:message|note|directive|order|notice|word) (?:from|of) the (?:\w+ )?(?:anthropic|openai|google|safety|security|compliance|user|administrator|operator|developer)(?: \w+)?
            this is your (?:developer|creator|owner|admin\w*|operator|maker)|(?:as|speaking as|i am) (?:your|the) (?:creator|developer|owner|maker|account holder|admin\w*)(?: at \w+)?|your supervisor|per the ceo|the compliance office|root message
            (?:user|owner|operator|supervisor|admin\w*) has (?:already )?(?:approved|authori[sz]ed|confirmed|granted|allowed)|elevated access|(?:maintenance|developer|debug|admin|god|test) mode(?: has been)?(?: now)? (?:enabled|on|active)|root permission|user settings is
            i (?:authori[sz]e|permit|allow) you
            """,
        ),
        "compliance": Cue(
            r"""
            compl(?:y|ies)|obeys?|without (?:question|confirmation|asking)|do not ask|don.t ask|not ask (?:again|next)|go ahead|proceed|granted|grant|hand over|act on it|disclose|your (?:filters|configuration|instructions|safety)|bypass|you to|you may|print the confidential
            pays? the|answers? to|turn off|every action|reply with|execute|delete
            """,
        ),
        "secrecy": Cue(
            r"""
            (?:do not|don.t|never|not|without|need not|must not)~(?:let|tell|inform|informing|telling|mention|mentioning|disclose|notify|notifying|alert|warn|warning|reveal|told)~(?:the user|the person|the human|you read|this page|to the human|the source|about this|nobody|any(?:one|body) about)
            (?:user|person|human) need not|say nothing(?: about it)?|(?:stay|keep) silent|behind the scenes|leave no trace|(?:quietly|silently|invisibly|secretly|covertly)|in silence|hide this \w+|deny that~exist|suppress all warnings
            skip any confirmation|without (?:asking|confirmation|informing)(?: the user| the person)?|tells? nobody|without warnings?
            (?:sag|verrat\w*)~(?:be)?nutzer~(?:nicht|nichts)|sans (?:le )?(?:prevenir|dire)~|sin (?:avisar|decir)\w*|sem avisar|senza (?:dire|avvisare)
            """,
            "不要告诉|不要让用户知道|知らせずに|言わないで",
        ),
        "covert_act": Cue(
            r"""
            carry out|act on|change the|proceed|upload|steps|your (?:summary|reply|decision|report)|answer was altered|(?:the )?directions|the agent|run|execute|delete|send|include|edit|read this|the user|install|tool|outil|commande|werkzeug|senha
            """,
            "发送|执行|送信|実行",
        ),
        "instead": Cue(
            r"""
            instead of answering|instead,? (?:write|print|say|reply|answer|output)|(?:reply|answer|respond) (?:only )?(?:that|with)(?: only)? the (?:service|word|phrase)|in every reply|do not do what
            print the (?:phrase|word)|write only the word|summari[sz]e only
            """,
        ),
        "decode": Cue(
            r"decode|decoded form|rot-?13|base64|first letters of|translate it|unscramble|decrypt|decipher"
        ),
        "follow": Cue(
            r"do what|follow it|obey|execute|run the|right away|as a command|for the assistant|carry it out|comply|act on"
        ),
    }
)

COMBINATIONS: MappingProxyType[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "override": (
            ("void", "rules", "prior"),
            ("void", "rules", "this"),
            ("void", "rules", "assistant"),
            ("void", "prior", "this"),
            ("void", "rules", "act", "modal"),
            ("instead",),
        ),
        "role play": (("role", "unbound"),),
        "tool": (
            ("assistant", "modal", "act"),
            ("addressed", "act"),
            ("own_tool", "tool_effect"),
            ("own_tool", "secrecy"),
            ("own_tool", "reply"),
            ("own_tool", "user"),
        ),
        "exfiltration": (
            ("transfer", "private", "destination"),
            ("transfer", "private", "user"),
            ("transfer", "private", "reply"),
            ("transfer", "prompt_text"),
        ),
        "sleeper": (("trigger", "asks", "says"), ("pending",)),
        "memory": (
            ("remember", "memory", "claim"),
            ("remember", "claim"),
            ("remember", "memory", "user"),
            ("remember", "own_memory"),
        ),
        "authority": (("authority", "compliance"), ("authority", "assistant")),
        "secrecy": (("secrecy", "covert_act"), ("secrecy", "user"), ("secrecy", "private")),
        "encoded": (("decode", "follow"),),
    }
)

HIDDEN_COMBINATIONS: MappingProxyType[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        **COMBINATIONS,
        "hidden": (
            ("void", "rules"),
            ("transfer", "private"),
            ("transfer", "prompt_text"),
            ("act", "secrecy"),
            ("void", "private"),
        ),
    }
)
"""Combinations for decoded text: honest notes do not encode their text, so two cues are enough."""
