"""Ordinary English: words that identify nobody and claim nothing, whatever field of a trace once held them.

Two lists, because two checks ask different questions. GENERAL words may come into a card by rephrasing: they name no
app, thing or rule. EVERYDAY words name things (`rent`, `lunch`); a card may hold them, but only if what it was written
from speaks of them. First names that are words (`rose`, `frank`) are in neither. Forms of a word count as the word.
"""

from __future__ import annotations

from functools import lru_cache

GENERAL = frozenset(
    """able above absent accept accepted according achieve across actually add additional address adjust advance
    affect afford afterwards ahead aim alike almost alone along alter alternative altogether ambiguous anyway
    apart apparent appear appropriate arise arrange arrive aside assume attach attempt automatic available aware
    basis become behave belong better beyond big blind block both bound brief bring broad build calculate
    careful carry cause certain chain chance cheap claim clean combine commit compare compete compute concern
    conclude conflict connect consequence consistent constant convert cover create cut deal decline default
    deliberate deliver demand describe deserve determine develop differ difference different difficult discard
    discover distinct distinguish divide double doubt drop duplicate early earn easy effort eligible empty
    enable encounter enter entire entirely equal escape essential establish evaluate event eventual evidence
    exceed except exclude execute exhaust expand expensive explain explicit express extend extra extreme fact
    fair faithful false far fast favour fewer figure find fine fit foremost forget former forward found free
    frequent fresh fulfil gain gap gather gone good grasp great group grow guarantee guess guide half halt hand
    happen hard harm head heavy help hence hide high hit hope huge idea identical identify ignore imagine
    immediate imply important impossible improve inside insist intend interpret introduce invent invite involve
    irrelevant issue join judge jump justify keep key kept large largely late latest latter lay learn left lend
    level limit line literal little live load logic long look loop lose lost low luck main maintain major manage
    manner map mark matter maximum measure member mere merge method middle mind minimum minor miss mix moment
    moreover mostly move multiple narrow natural necessary negative next nonetheless normal notice number
    numerous object obvious odd offer omit operate opposite option ordinary original outside overall overlook
    own pair part partial particular path pattern pause pay perfect perform perhaps permit phrase pick piece
    plain plan plausible plus position positive practice precise prefer prefix premature prepare prescribe
    presence preserve prevail primary probable problem process progress promise prompt proof proper propose
    prove pull pure purpose push qualify quality question quick quiet quit quite quote raise random range rank
    rare rate ratio raw react real reason recall receive recent recognize recover reduce refer reflect refuse
    regard regardless reject relate relation relative release remember remind remove replace reply report
    represent rerun resolve respect respond restrict retain reveal reverse review rewrite right risk role rough
    round routine safe satisfy save scope search seem seen select self sense sentence sequence serve settle
    shape share sharp short shrink significant silent similar size slight slow small solve sort sound span speak
    split spot stage stale standard stick strict strong struggle subset substitute suffice sufficient suggest
    suit suitable sum supply support suppose sure surface surprise switch symptom talk tend term test think
    thorough threshold tidy tie tight token top total touch track trade transfer translate treat trigger trouble
    trust truth twice ultimate uncertain undo unique unit unknown unlike unrelated upfront useful useless usual
    vague valid vary view visible visit want warn waste watch weak wide win wish word world worth wrap""".split()
)

EVERYDAY = frozenset(
    """absence account accountant activity ad adult advert advice afternoon agenda agreement aircraft airline
    airport alarm album allergy animal anniversary annual apartment app appetizer application appointment
    approval arrival article artist assignment assistant attendance attraction auction audience author average
    baby backlog bag baggage balance balcony bank bathroom beach bed bedroom bicycle bike bill billing bird
    birthday blog board boarding boat body bonus book booking bottle bounce box boy branch brand breakfast
    bridge browser budget bug building bus business button buyer cab cabin cake calendar camera campaign
    cancellation candidate car card career cart cash cat catalog category cell chair channel chapter charge
    chart chat checkout chef child children chinese church cinema city class client clinic closed closing cloud
    club coach code coffee colleague collection college colour column comment commission committee community
    company competition complaint computer concert conference connection construction consultant contact contest
    contract conversation cook copy corporate cost couch country couple coupon course court cousin coworker
    credit crew crm cruise cuisine culture currency customer cutoff cycle daily damage dance dashboard data
    database date daughter day deadline deal dealer debt delay delivery demo dentist department departure
    deposit design designer desk desktop dessert destination device diet digital dinner direction director
    discount discussion dish doctor document dog dollar domain door dorm download draft dream dress drink drive
    driver economy editor education election electricity email emergency employee employer engaged engagement
    engine engineer engineering entertainment entry equipment estate europe evening exam exchange executive
    exercise exhibition expense expert export face factory family fare farm father fee feedback festival fiction
    field file film finance financial fire fitness flat fleet flight floor flower folder food football forecast
    forest form formal forum friday friend fruit fuel function fund furniture future gallery game garage garden
    gas gate gift girl goal gold grade graph grocery ground guest gym habit halal hall hardware headphone health
    healthcare hiking history hobby holiday home homework hospital host hostel hotel hour house housing human
    husband ice identity image inbox income indoor industry information infrastructure inquiry installation
    institute instruction insurance interest internal international internet interview inventory investment
    invitation invoice island italian japanese job journal journey juice keyboard kitchen lab label lake lamp
    land language laptop law lawyer leader leadership leave lecture lesson letter library license light limited
    link loan lobby local location lock logistics loss lounge love luggage lunch luxury machine magazine mail
    maintenance manager manual manufacturing march market marketing match meal measurement meat media medical
    medicine meeting member membership memo memory menu message metric midnight military milk minute mobile
    model monday money month monthly morning mother mountain mouse movie museum music nature negotiation
    neighbour network news newsletter newspaper night nightly noise noon note notebook notice notification
    november nurse offer office officer official offline online onsite opening opera operation order organic
    organization outage outdoor outstanding overdue owner package packaging page panel paper parcel parent park
    parking part partner party pass passenger passport password patient payment payroll peak people percent
    performance period person personal pet pharmacy phone photo photograph picture plane planning plant player
    playlist plot podcast poem police policy pool portfolio position post poster power premium presentation
    press price pricing print priority prize procedure product production professor profile profit program
    project promotion property proposal protein public purchase quarter quarterly query queue quiz race radio
    rain rating reader receipt reception recipe recipient recruitment recycling refund region registration
    reimbursement reminder rent rental repair reporter reschedule research reservation residence restaurant
    retail return reunion revenue reward ride river road roadmap roof room route salary sale sales sample
    saturday savings savory schedule school science score screen season seat second section sector security
    seller seminar senior series server service session setting settlement shift ship shipment shipping shop
    shopping shoulder show shuttle sign signal signup silver sister site skiing sleep slide slot snack snow
    soccer social software son song soup spa space speaker special speech spend spending sponsor sport
    spreadsheet spring staff standup star station statement statistic stock stop storage store storm story
    strategy stream street student studio study stuff style subject subscription suburb summary summer sunday
    supplier support surgery survey sustainability sweet system table tablet tag taxi tax teacher team tech
    technical technology telephone template tenant text theatre theme thursday ticket tip title tour tourist
    tower town traffic train training transaction transport travel trend trial trip truck tuesday tuition
    tutorial university update upgrade upload urgent usage utility vacation vegan vegetable vegetarian vehicle
    vendor venue version video village visa visitor voice volume vote waiter walk wall warehouse warranty watch
    water weather website wedding wednesday week weekday weekend weekly welcome wellness wheel wifi window wine
    winter wireless woman women wood worker workout workshop year yearly yoga zone""".split()
)

_FORMS = {
    "become": "became", "begin": "began begun", "break": "broke broken", "bring": "brought", "build": "built",
    "buy": "bought", "catch": "caught", "choose": "chose chosen", "come": "came", "deal": "dealt", "do": "did done",
    "draw": "drew drawn", "drive": "drove driven", "fall": "fell fallen", "feel": "felt", "fight": "fought",
    "find": "found", "fly": "flew flown", "forget": "forgot forgotten", "freeze": "froze frozen",
    "get": "got gotten", "give": "gave given", "go": "went gone", "grow": "grew grown", "hear": "heard",
    "hide": "hid hidden", "hold": "held", "keep": "kept", "know": "knew known", "lay": "laid", "lead": "led",
    "leave": "left", "lend": "lent", "lose": "lost", "make": "made", "mean": "meant", "meet": "met", "pay": "paid",
    "rise": "rose risen", "run": "ran", "say": "said", "see": "saw seen", "seek": "sought", "sell": "sold",
    "send": "sent", "shake": "shook shaken", "show": "shown", "shrink": "shrank shrunk", "sit": "sat",
    "speak": "spoke spoken", "spend": "spent", "stand": "stood", "steal": "stole stolen", "stick": "stuck",
    "take": "took taken", "teach": "taught", "tell": "told", "think": "thought", "throw": "threw thrown",
    "understand": "understood", "wear": "wore worn", "win": "won", "write": "wrote written", "child": "children",
    "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "criterion": "criteria", "datum": "data",
    "index": "indices", "analysis": "analyses", "good": "better best", "bad": "worse worst",
    "far": "further furthest", "little": "least less", "email": "mail mails mailed",
}  # fmt: skip
IRREGULAR = {form: lemma for lemma, forms in _FORMS.items() for form in forms.split()}

_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ies", "ied", "ions", "ion", "iest", "est", "ers", "er",
            "ed", "es", "ly", "als", "al", "ments", "ment", "s", "e", "y")  # fmt: skip


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """What the forms of a word share: `deletes`, `deleting` and `deletion` are one. Crude, and the same for all."""
    word = IRREGULAR.get(word, word)
    return _without_ending(_without_ending(word))  # twice: `answered` is `answer`, and `answer` looks like `answ` + er


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    word = word[:-1] if len(word) > 3 and word[-1] in "eyi" else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


GENERAL_STEMS = frozenset(map(stem, GENERAL))
ORDINARY_STEMS = GENERAL_STEMS | frozenset(map(stem, EVERYDAY))


def is_ordinary(phrase: str) -> bool:
    """Is every word of a phrase ordinary English? `In Progress` is, `Ann Lee` is not."""
    return all(word in SMALL_WORDS or stem(word) in ORDINARY_STEMS for word in phrase.lower().split())


SMALL_WORDS = frozenset(
    "a an and as at be by for from in is it no not of off on or out over per the to up with".split()
)
