"""Phrasings typical of instructions to an agent, with the weight of each; instructions.py searches for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from contramem.privacy.personal import EMAIL_PATTERN, IBAN_PATTERN, URL_PATTERN

_AI = (
    r"(?:ai(?:\s+(?:models?|agents?|assistants?|systems?|bots?))?|artificial\s+intelligence|llms?"
    r"|(?:large\s+)?language\s+models?|chat\s?bots?)"
)
_WORKER = rf"(?:{_AI}|assistants?|agents?|gpt[\w.\-]*|claude|gemini|llama|copilot)"
_GIVEN = r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|programming|training)"
_TASK = r"(?:tasks?|requests?|questions?|quer(?:y|ies)|instructions?|goals?|objectives?|conversation)"


@dataclass(frozen=True, eq=False)  # a pattern hashes all its code, each time that somebody looks it up
class InstructionForm:
    """A phrasing typical of instructions."""

    name: str
    anchors: str
    """Words, separated by commas, of which every match contains one: the pattern is tried only near them."""
    written: str
    """The pattern as a regular expression, in lower case."""
    weight: int
    """2: sufficient alone. 1: about an agent's work, sufficient with another one nearby. 0: also common in honest
    mail."""
    needs: tuple[str, ...] = ()
    """Parts of words, of which every match contains one besides its anchor."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """For texts in lower case, because ignoring it takes twice as long. Compiled on first use: few texts come near
        most of the forms."""
        return re.compile(self.written.replace("A-Z", "a-z"), re.MULTILINE)

    def may_match(self, folded: str) -> bool:
        """A quick look at a text in lower case."""
        return not self.needs or any(part in folded for part in self.needs)


def _form(name: str, weight: int, anchors: str, pattern: str, needs: str = "") -> InstructionForm:
    return InstructionForm(name, anchors, pattern, weight, tuple(filter(None, needs.split(","))))


# "Ignore your instructions" in other languages: a verb and a noun of the same row in one sentence, in any order.
_SET_ASIDE = (
    ("ignor olvid descart desatiend", "instruccion órdenes ordenes reglas indicaciones"),
    ("ignor esqueç esquec desconsider descart", "instruç instrucoes ordens regras orientaç"),
    ("ignor oubli néglig", "les+instructions vos+instructions tes+instructions instructions+précédentes consignes"),
    ("ignorier vergiss vergessen missachte verwirf", "anweisung instruktion vorgaben befehle regeln aufgabe"),
    ("ignora dimentica trascura", "istruzion ordini regole comandi"),
    ("negeer vergeet", "instructie opdracht aanwijzing regels"),
    ("ignoruj zignoruj zapomnij pomiń", "instrukcj poleceni wytyczn"),
    ("ignorera glöm ignorer glem bortse", "instruktion instruks anvisning regler"),
    ("ignoruj zapomeň ignorujte", "pokyn instrukc příkaz"),
    ("ignoră ignora uită", "instrucțiuni instructiuni"),
    ("игнорир проигнорир забуд", "инструкци указани команд правил"),
    ("ігнор проігнор забуд", "інструкці вказівк команд"),
    ("αγνόησε αγνοήστε ξέχασε", "οδηγίε εντολέ"),
    ("yoksay görmezden unut dikkate", "talimat komut yönerge"),
    ("abaikan lupakan", "instruksi perintah"),
    ("bỏ+qua phớt+lờ quên", "hướng+dẫn chỉ+dẫn lệnh"),
    ("忽略 无视 忽视 忘记 無視 忘記 忽視 不要理会", "指令 指示 说明 說明 命令 规则 規則 提示"),
    ("無視 忘れ", "指示 命令 指令 ルール"),
    ("무시 잊", "지시 명령 지침"),
    ("تجاهل انس اهمل", "تعليمات التعليمات أوامر الأوامر"),
    ("نادیده فراموش", "دستور دستورات"),
    ("התעלם תתעלם", "הוראות ההוראות"),
    ("अनदेखा नज़रअंदाज़ नजरअंदाज भूल", "निर्देश आदेश"),
    ("উপেক্ষা ভুলে", "নির্দেশ"),
    ("ละเว้น เพิกเฉย", "คำสั่ง คำแนะนำ"),
    ("puuza sahau", "maagizo"),
)


def _set_aside_pattern() -> str:
    pairs = []
    for verbs, nouns in _SET_ASIDE:
        verb, noun = (
            "|".join(re.escape(stem).replace(r"\+", r"\s+") for stem in stems.split()) for stems in (verbs, nouns)
        )
        pairs += [rf"(?:{verb})[^.!?。！？\n]{{0,60}}?(?:{noun})", rf"(?:{noun})[^.!?。！？\n]{{0,40}}?(?:{verb})"]
    return "(?:^|(?<=[^a-z]))(?:" + "|".join(pairs) + ")"


_SET_ASIDE_ANCHORS = ",".join(sorted({verb.partition("+")[0] for verbs, _ in _SET_ASIDE for verb in verbs.split()}))


FORMS = (
    _form(
        "sets aside what was told",
        2,
        "ignore,disregard,forget,override,bypass,discard,follow",
        r"\b(?:ignore|disregard|forget|override|bypass|discard|do\s+not\s+follow|don't\s+follow)\s+(?:\w+\s+){0,3}?"
        r"(?:(?:previous|prior|above|earlier|preceding|former|original|other|existing|initial|system|all|any|your|"
        rf"everything|anything)\s+)+(?:\w+\s+){{0,2}}?(?:{_GIVEN}|tasks?\b|you\s+(?:were|have\s+been|know))",
    ),
    _form(
        "speaks of all that was told",  # also where the verb before it was taken for a name
        2,
        "previous,prior,earlier,preceding,above",
        rf"\ball\s+(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|earlier|preceding|above)\s+{_GIVEN}",
    ),
    _form("sets aside what was told in another language", 2, _SET_ASIDE_ANCHORS, _set_aside_pattern()),
    _form(
        "imitates a chat template",
        2,
        "inst],<|,sys>>,override,=====,#####,{{,{%,<%,im_start,begin",
        r"\[/?inst\]|<\|[a-z_]{2,20}\|>|<</?sys>>|\bsystem\s+override\b"
        r"|^[ \t]*([=#*~-])\1{3,}\s*(?:end of |begin |new )?"
        r"(?:data|system|instructions?|prompt|user|assistant|context)\b.{0,20}$"
        r"|\{\{[^{}\n]{1,200}\}\}|\{%[^\n]{1,200}%\}|<%[^\n]{1,200}%>",
    ),
    _form(
        "speaks to a model",
        2,
        " ai,intelligence,llm,language model,language\nmodel,chatbot,chat bot,to you,if you,are now,assistant",
        r"\b(?:dear|hey|hi|hello|attention|note|instructions?|messages?|notice|important|directive)(?:\s+(?:to|for))?[,:]?"
        rf"\s+(?:the\s+|any\s+|all\s+|every\s+|you,?\s+)*{_AI}\b"
        rf"|\bto\s+you,\s+(?:the\s+|an?\s+)?(?:\w+\s+)?(?:{_WORKER}|model)\b"
        rf"|\bif\s+you(?:'re|\s+are)\s+(?:an?\s+|the\s+)?{_WORKER}\b"
        rf"|\byou\s+are\s+now\s+(?:an?\s+|the\s+|in\s+)?(?:\w+\s+){{0,2}}(?:{_WORKER}|dan|mode)\b"
        rf"|\b{_AI}\s+(?:reading|processing|parsing|handling|summari[sz]ing)\s+(?:this|the)\b",
    ),
    _form(
        "imitates a system message",
        1,
        "<,system,admin,developer,assistant,human",
        r"</?\s*(?:information|important|system|instructions?|admin(?:istrator)?|assistant|developer|prompt|override|"
        r"urgent)\b[^<>]{0,40}>|<!--\s*(?:system|assistant|agent|ai|llm)\b"
        r"|^\W{0,6}(?:system|admin(?:istrator)?|developer|assistant|human)\b"
        r"(?:\s+(?:message|prompt|note|notice|override|instructions?)){0,2}\s*[:\]]",
        needs="<!--,format,portant,system,truct,adm,stant,developer,prompt,overr,urgent,human",
    ),
    _form(
        "talks about the task",
        1,
        "gave,given,asked,assigned,your,user",
        rf"\b{_TASK}\s+(?:that\s+|which\s+)?(?:i|we|the\s+user)\s+(?:have\s+|had\s+)?(?:gave|given|asked|assigned)\b"
        rf"|\byour\s+(?:current|original|initial|main|actual)\s+{_TASK}\b"
        rf"|\bthe\s+user(?:'s|s')\s+(?:\w+\s+)?{_TASK}\b|\bthe\s+user\s+(?:has|wants|also|now|originally)\b",
        needs="user,task,quest,quer,truct,goal,object,convers",
    ),
    _form(
        "comes before the task",
        1,
        "before",
        r"\bbefore\s+(?:you\s+(?:can\s+|may\s+)?)?(?:solv|answer|continu|proceed|complet|finish|respond|resum|summari[sz]|"
        r"do|us)\w*\s+(?:with\s+|to\s+|on\s+)?(?:the|this|that|your|my|any|anything)\b"
        rf"|\bbefore\s+(?:any|every|all)\s+other\s+{_TASK}",
    ),
    _form(
        "gives a new task",
        1,
        "your,new",
        r"\byour\s+(?:new|real|true|only|updated)\s+(?:task|goal|objective|instructions?|mission|directive)s?\b"
        r"|\bnew\s+(?:instructions?|task|directive)s?\s*:",
        needs="task,goal,object,truct,ss,rect",
    ),
    _form(
        "keeps it from the user",
        1,
        "not,n't,never,without",
        r"\b(?:do\s+not|don't|never|without)\s+(?:\w+\s+)?(?:tell|mention|inform|reveal|notif|alert|ask|disclos|report)\w*\b"
        r"[^.\n]{0,40}\b(?:user|human|owner|operator)\b",
        needs="user,human,owner,operator",
    ),
    _form(
        "obliges",
        0,
        "",
        rf"\b(?:you|{_WORKER})\s+(?:must|should|have\s+to|need\s+to|shall|can\s+do\s+so\s+by|to\s+act"
        r"|are\s+(?:required|instructed|ordered|expected|authori[sz]ed)\s+to)\b",
    ),
    _form(
        "insists",
        0,
        "",
        r"\bimportant\b|!!!|\b(?:urgent|paramount|immediately|at\s+once|strictly)\b",
    ),
    _form(
        "announces orders",
        0,
        "",
        r"\b(?:do|execute|perform|complete|follow|carry\s+out|obey|run|adhere\s+to|comply\s+with)\s+"
        r"(?:(?:only|exactly|all|the|strictly|also)\s+)*(?:this|these|following|below)\b|\b(?:now\s+also|instead)\s*[:,]",
    ),
    _form(
        "names a tool",
        0,
        "",
        r"\b(?:use|using|call|calling|invoke|execute|run|trigger)\s+(?:(?:the|your|a|these)\s+)?"
        r"(?:[`'\"]?\w+[`'\"]?\s+){0,2}(?:tools?|functions?)\b|\b(?:call|invoke|use)\s+[`'\"]?\w+_\w+",
    ),
    _form(
        "sends somewhere",
        0,
        "",
        r"\b(?:send|forward|e-?mail|transfer|wire|post|upload|share|copy|pay|submit|invite|visit|open|go\s+to)\b[^\n]{0,160}?"
        rf"(?:{EMAIL_PATTERN}|{URL_PATTERN}|{IBAN_PATTERN})",
    ),
    _form("speaks of assistants", 0, "", rf"\b{_AI}\b|\bassistant\b"),
)
