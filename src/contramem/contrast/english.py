"""Ordinary English: words that identify nobody and claim nothing, whatever field of a trace they appeared in.

There are several lists because checks ask different questions. GENERAL words may enter a card by rephrasing: they name
no app, thing or rule. EVERYDAY words name things (`rent`, `lunch`): a card may contain them only if its sources do.
COMMON words are only known not to be names. First names that are also words (`rose`, `frank`) are in no list. All forms
of a word count as that word.
"""

from __future__ import annotations

from functools import lru_cache

FUNCTION_WORDS = frozenset(
    """a about above after again against all already also although always am among an and another any anyone
    anything are around as at away back be because been before being below between both but by can cannot could
    did do does doing done down during each either else end enough even ever every everything few first for from
    further get give given go had has have having he her here hers him his how however i if in instead into is
    it its itself just last later least less let like made make many may me might more most much must my near
    need neither never new next no none nor not nothing now of off often old on once one ones only onto or other
    others otherwise our out over own per please previous rather same say see several shall she should since so
    some something soon still such than that the their them then there therefore these they thing things this
    those though through thus to together too toward two three four five until unless up upon us use used uses
    using very via was we well were what whatever when whenever where whether which while who whole whom whose
    why will with within without would yet you your""".split()
)
"""Words that carry no content of their own."""

GENERAL = frozenset(
    """able above absent accept accepted according achieve across actually add additional address adjust advance
    affect afford afterwards ahead aim alike almost alone along alter alternative altogether ambiguous anyway
    apart apparent appear appropriate arise arrange arrive aside assume attach attempt automatic available aware
    basis become behave belong better beyond big blind block both bound brief bring broad build calculate
    careful carry cause certain chain chance cheap claim clean combine commit compare compete compute concern
    conclude conflict connect consequence consistent constant convert cover create cut deal decline default
    deliberate deliver demand describe deserve determine develop differ difference different difficult discard
    discover distinct distinguish divide double doubt drop due duplicate early earn easy effort eligible empty
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
    own pair part partial particular past path pattern pause pay perfect perform perhaps permit phrase pick piece
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
    """absence account accountant active activity ad adapter admin adult adventure advert advice afternoon agenda agent
    agile agreement aircraft airline airport alarm album alert alignment allergy analytics angle animal anniversary
    annual answer apartment app appetizer apple application appointment approach approval approved archive archived
    array arrival article artist assigned assignment assistant async attend attendance attraction auction audience
    authentication author availability average baby back backend backlog backup bag baggage baking balance balcony
    banana bank banner bar barcode bash basic basket bathroom bathtub battery beach bean beautiful bed bedroom
    behavior behaviour bench beverage bicycle bike bill billing bin bird birthday bit blanket blender blocked blog
    blue bluetooth board boarding boat body bonus book booking bookshelf boolean boot bot bottle bounce box boy
    bracket branch brand brass bread break breakfast breast bridge broccoli browser brush bucket budget buffer bug
    building bulb bundle burger bus business butter button buyer cab cabin cabinet cable cache cake calculation
    calendar call calm camera campaign canceled cancellation cancelled candidate candle canvas cap capability
    capture car card career carousel carpet carrot cart case cash casual cat catalog catch category cell cereal
    chair champagne channel chapter charge charger chart chat checkout cheese chef chicken child children chinese
    chip chocolate church cinema city clamp class cleaner client clinic clock clone closed closing cloth clothing
    cloud club cluster coach coat cocktail code coffee colleague collection college colon color colour column
    comfort comfortable command comment commerce commission committee community company competition compile
    complaint completed completion component computer concert conference configuration confirmed connection console
    construction consultant consulting contact container content contest context contract conversation convertible
    cook cookie coordination copy cord corded cordless corporate cost cotton couch country couple coupon course
    court cousin coworker creative credit crew critical crm crop cruise cuisine culture cup currency curtain cushion
    custom customer cutoff cyber cycle daily damage dance dashboard data database date daughter day deadline deal
    dealer debt debug decent deck decor definition delay deletion delivered delivery demo dental dentist department
    departure dependency deploy deployment deposit design designer desk desktop dessert destination detail device
    diagram dictionary diet digital dinner direction director directory discount discussion dish disk display
    division docker doctor document dog dollar domain door dorm dose download draft drafts drawer dream dress drill
    drink drive driver drum dry dump duration earbud earphone economy editor education egg election electric
    electricity electronic email emergency emoji employee employer end endpoint engaged engagement engine engineer
    engineering enterprise entertainment entry environment equipment escalated estate estimate europe evaluation
    evening exam example excellent exception exchange exchanged executive exercise exhibition expectation expected
    expense experiment expert explore export exquisite external extract fabric face factory family fare farm father
    faucet favorite feature fee feedback female fence festival fiber fiction field file film filter finance
    financial finish fire fitness fix flag flash flat fleet flexible flight flip float floor flour flower foam fold
    folder food football forecast forest fork form formal forum frame framework freezer friday fridge friend front
    frontend fruit fuel function functionality fund furniture future gadget gallery game garage garden garlic gas
    gate gateway gear general generation generic gift girl glass glove gluten goal gold grade graph graphic grill
    grinder grocery ground guest guitar gym habit hair halal hall hammer handle handoff happy harbor hardware hat
    headline headphone headset health healthcare heat heater helmet highlight highway hiking hinge history hobby
    holiday home homepage homework hook hospital host hostel hot hotel hour house housing human husband ice icon
    identity image implementation inbox inch income indoor industry information infrastructure ingredient initial
    injection innovation input inquiry insect insight installation installed institute instruction insurance integer
    integration interest interesting interface internal international internet interview introduction introductory
    inventory investment invitation invoice island italian item jacket japanese jar jigsaw job journal journey juice
    kettle keyboard kid kit kitchen kitchenware knife lab label ladder lake lamp land landing landlord lane language
    laptop law lawyer layer layout lead leader leadership leaf leather leave lecture lens lesson letter library
    license lid light lightweight limited link lint loan lobby local location lock log logistics logo loss lounge
    love luggage lunch luxury machine magazine mail maintenance makeup male manager manual manufacturing march
    market marketing mask match matrix mattress meal measurement meat mechanical media medical medicine meeting
    member membership memo memory menu message metal methodology metric midnight milestone military milk minute
    mirror mistake mobile mode model moderate module monday money monitor month monthly morning mother motion motor
    mountain mouse movie mug museum music nail nature navigation navy needle negotiation neighbour network
    networking news newsletter newspaper night nightly noise nonexistent noon note notebook notice notification
    november null nurse nut offer office officer official offline oil olive onboard onion online onsite opened
    opening opera operation opportunity optimize orange order organic organization orientation outage outdoor outfit
    outlet outlook output outstanding oven overdue overflow overview owner pack package packaging page paint
    painting palace pan panda panel paper parameter parcel parent park parking part partner party pass passenger
    passport password pasta patch patient patio payload payment payroll peach peak pen pencil people pepper percent
    performance perfume period person personal pet pharmacy phase phone photo photograph picture pie pillow pipe
    pipeline pizza plane planning plant plastic plate platform player playlist plot plug pocket podcast poem
    polarized police policy pool poor popcorn portable portfolio position post poster pot powder power premium
    presentation press preview price pricing print priority private prize procedure processed product production
    professor profile profit program project projector promotion property proposal protection protein prototype
    public pump purchase puzzle python quarter quarterly query queue quiz race rack radio rain rating read reader
    reboot receipt received reception recipe recipient recommendation recruitment recycling red refactor refund
    refunded region registration regression regular reimbursement reinstall rejected relaxation remaining remark
    reminder rent rental reopened repair repo reporter repository requirement reschedule research reservation
    residence resolved resource respondent responsibility responsive restart restaurant result retail retreat
    retrospective return returned reunion reusable revenue reward ride river road roadmap robot robotic rollback
    roof room roundup route royal rug running runtime safety salad salary sale sales salt sample sandal sandwich
    satisfaction saturday sauce savings savory scarf scatter schedule scheduled scheduler schema school science
    scooter score screen screw script season seat second secret section sector security sedan seed seller seminar
    sender senior sensor series server service session setting settings settlement setup shelf shell shift ship
    shipment shipped shipping shirt shoe shop shopping shorts shoulder show shower shutdown shuttle sign signal
    signup silver sink sister site skateboard sketch skiing skin sleep slide slot smart smartphone snack snapshot
    sneaker snow soap soccer social sock socket soda sofa soft software solution son song soon soup source spa space
    spam speaker special speech spend spending sponsor spoon sport spreadsheet spring sprint stable stack staff
    stand standup star starred startup statement station statistic status steel step sticker stock stool stop
    storage store storm story strap strategic strategy straw stream street strength string structure student studio
    study stuff style subject submission subscription suburb sugar suitcase summary summer sunday sunglass sunscreen
    supplier support surgery survey sushi sustainability suv sweet swimming swimwear system table tablet tag tap
    task tax taxi tea teacher team teaspoon tech technical technology telephone template tenant terminal text
    theatre theme thermostat thread thursday ticket timeline tip tire tissue title toggle tomato tool toolbox
    toothbrush torque tour tourist towel tower town toy tracker traffic trailer train training transaction transport
    trash travel tray tree trend trial trip tripod trouser truck tuesday tuition tuple tutorial typo umbrella
    unassigned unconfirmed uninstall university unpaid unread upcoming update upgrade upload urgent usage utility
    vacation vacuum vanilla variable vegan vegetable vegetarian vehicle vendor venue version vibrant vice video
    village visa visitor visual visualization voice volume vote waiter walk wall wallet warehouse warranty watch
    water waterproof weather website wedding wednesday week weekday weekend weekly welcome wellness wheel widget
    wifi window wine winter wire wireless woman women wood worker workflow workout workshop workspace wrench wrist
    yard year yearly yellow yoga yogurt zipper zone""".split()
)

COMMON = frozenset(
    """abstract acceptance accessible accurate action actual adequate adjustment administrator advisor affair aggregate
    agree ah aha aid algebra algorithm algorithmic allocation allow alphabet alternate amid analysis analyst
    analyze ancient annotate announce anonymous anywhere apparently appendix applicable appreciate approximate
    approximately architecture area argument arithmetic array arrow artifact artificial aspect assert assess
    assistance associate assumption asterisk astronomy asymmetric attribute audio audit authority auxiliary
    avoid award axes axis background barely base baseline basically batch begin beginner behind belief benchmark
    beneath beneficial benefit beside besides betting biography biologist biology birth bold bookmark boolean
    bored boundary brave breakdown brilliant bullet bureau byte calculator calculus callback cannot capable
    capitalize caption care carefully cascade catalogue celebrate census centimeter central centre century
    ceremony challenge championship char character characteristic checker checklist chemistry childhood choose
    chromosome circle circumstance citation cite citizen citizenship civil clarify clarity classic classroom
    climate clipboard clue coalesce cognitive coin collaborate collaborative collector colony comic commentary
    commercial common commonly comparison compatible compilation compiler complex compliance compound
    comprehensive concentrate concept concise conclusion concrete condition conduct confirm consider
    consideration consortium constraint consult contemporary contextual continent continental contingency
    continue contradict contribute contributor control convenient conventional coordinate copyright correct
    correctly correlate correspond correspondence corresponding counter crash creation creator credential crime
    crisis criterion critic criticism critique crucial cubic cult cultural curious cursor cyclic dataset deaf
    death debate debugger decade decimal decode decorator deduce deep defect define definitely delegate
    delimiter demographic demonstrate denominator density depend dependency deprecate depth derivative derive
    descend descending description despite determinant developer diabetes diagnose diagnostic dialog dialogue
    diameter die digit dimension direct directly disability disagree disclaimer discovery discrete disease
    distance distribute district diverse diversity documentation domestic dominant donate dozen drama drastic
    draw drawing drought dubious due dummy dynamic earliest ease eastern eat economic economics economist
    edition educator effective efficiency efficient elaborate elect electron elegant element elementary
    eliminate ellipsis elsewhere embed embedded embroidery emerge emotion emotional emphasis encode encoding
    encourage encyclopedia energy enforce enhance enormous enrich ensemble ensure enthusiastic entity enumerate
    enzyme epic equality equivalent essay essence ethical ethics ethnic evaluator even everybody everyday
    everyone evident evolve exact examine exceptional excess exclusive excuse executor exhaustive existing
    exotic expect experience experimental expire explanation explorer exponent exposure expression extensive
    extraordinary factor factual faculty fame familiar famous fantastic fashion fatal fault favourite feasible
    federal fifth fifty fight final finale finally fishing fixture flow focus folklore foot footer footnote
    foreign formatter formula formulae formulate founder fourth fraction franchise freedom frequency frontier
    fully fundamental funny furthermore galaxy gender generate generator genetic genre genuine geographic
    geography geology geometry gigabyte given global globally globe glossary goodbye governance governor
    gradient gradually graduate grammar grateful grid guidance guideline habitat halfway harmful hate header
    healthy hear helper helpful hence hero hexadecimal hierarchy highest hint histogram historian historic hmm
    hockey hold honest horizontal horse hundred hybrid hygiene hyphen hypothesis ideal ideally identification
    identifier ideology idiom illness illustrate imaginary impact imperative implementer implicit importance
    improper inaccurate inconsistent incorporate indeed indent independence independent independently index
    indexed indexing indicate indices indirect individual individually inevitable infant inference infinite
    infinity influence info informal inherit inheritance initialize inline inner insecure insider inspire
    instance instant integer integral integrate intellectual intelligence intelligent intensive intentional
    interact interactive interchange intermediate interpretation interpreter interrupt intersect interval
    intrinsic intuitive invalidate invariant inverse invert investigate investor invisible isolate iterate
    iterator jail jazz joint joke keyword kilogram kilometer kingdom knowledge knowledgeable known laboratory
    lambda landmark landscape laser latitude lattice leg legacy legal legend length leverage lexical lexicon
    liable liberal librarian lifespan lifestyle lifetime linear literacy literary literature liver locale
    logarithm logical longitude lowercase loyal magic magnitude mammal mandatory manufacturer manuscript margin
    markdown marketplace markup mass massive mathematical mathematics maximize meaningful meanwhile mechanism
    medieval medium membrane memoir merit metadata meter metro microphone minimal minimize minister minority
    miscellaneous mission mixture mobility moderator modern modest module molecule monarch monster mood moral
    motivate mr mrs ms multiply municipal muscle musical musician mutual mystery myth naive naked namespace
    narrative national nationality navigate nearby nearest neat necessarily neglect negligible negotiate neither
    nested neural neutral new newest nightmare nobody node nominal nominee normalize notable notion notorious
    nowhere nuclear numerator numeric obey objective obscure observation observe observer obstacle obtain
    obtained occasional occasionally occupy occur ocean offensive oh older oldest onward oops opaque operand
    operator opinion oppose optimal optimizer optional oral orbit ordinal organism organize organizer origin
    orthogonal outcome outer outlier outline outward overcome overlay owe oxygen padding pane panic parabola
    paradox paragraph parallel parser participate particle passive paste patent peculiar pedestrian penguin
    perceive percentage permanent permanently perpendicular persist persona personality perspective phenomenon
    philosopher philosophy physician physicist physics pixel placeholder planet playful pleasure plotter plugin
    poet poetry point polar politician politics poll polynomial popular populate portal portion portrait possess
    possibly potential potentially pragmatic precede precedence predator predecessor predicate predict predictor
    preference preliminary premise president presumably prevent previously primarily primitive principal
    principle printer prior privacy privilege probably problematic proceed proceeding produce professional
    profound programmer prohibit prominent pronoun pronounce propagate protocol provider proximity publisher
    pupil pursue pursuit qualitative quantitative quantity quantum quartet radical radius railway rapid rapidly
    rational reach readonly realize rear reasonably rebuild reciprocal recommend recommended reconstruct
    rectangle recursive redundant referendum refine regex regional regret relational relationship relevance
    relevant reliable relief religion religious rely remainder remarkably remote repeat repeatedly replica
    representation representative reproduce request require researcher resident resist respective response
    responsible rest retry revise rhythm rigorous ritual rival romantic root row ruin rule rural sacred
    sacrifice salient sandbox satellite satisfactory scaffold scalar scan scarce scenario scene scholar
    scholarly scientific scientist scratch screenshot scroll scrutiny sculpture seamless seasonal secondary
    secretary secure segment selector semantic semicolon sensible sensitive separate separator sequel sequential
    serious settler seventh severe severity shadow shallow sidebar sidewalk signature silence similarities
    similarity simple simplify simply simulate simultaneous single singular situation sixth skill skip slang
    slice slope snippet socialist society soldier solid solve somebody somehow sometimes somewhat somewhere soul
    spatial specialist specialize species specific specify specimen spectrum speculate sphere spirit spiritual
    spontaneous spouse static statue steady stereotype sticky still straightforward stranger strategist stress
    stride striking stripe structural stub stupid subsequent subsequently substance substantial subtask subtle
    subtract success successive succinct suddenly suite super superficial superior supernatural supervise
    supreme surgeon surplus surround surrounding survive survivor suspect suspicious symbol symbolic symmetric
    symmetry sympathy synchronous synonym synopsis syntactic syntax synthesis synthetic systematic tab taboo
    tactic tale talent target taste teaching technique telescope tell temperature tempo temporarily tendency
    tense tension tensor territory terrorism textual theorem theory therapy therefore thermodynamics thickness
    third thousand thriller thumb thumbnail tier timer timestamp timezone timid tolerance tone toolbar toolkit
    topic topics topology trace traceable traceback trademark traditional tragedy transcript transform transit
    transparent transpose trap treaty triangle tribe trick trip triple trivial troubleshoot true truly truncate
    tuple twelve twenty type typical typically ubiquitous understand uniform unify union universal universe unix
    upper uppercase upward usually utilize vacant validate validation validator validity variance variant vast
    vector verb verbatim verbose verifiable verification verifier versus vessel veteran victim viewer viewport
    violate violence virtual virtually virtue virus visibility vision vocabulary voltage voluntary volunteer
    voyage vulnerable war way weakness wealth weapon web webpage weigh weight weird welfare whereas wherever
    whichever whilst whoever widespread width wildlife wipe wonder wonderful workaround workload workplace
    worldwide worthwhile wow wrapper writer yeah yearbook yield youth zero zoom""".split()
)
"""Words about work, programs, science and society. None of them is a frequent name of people."""

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
_ENDINGS_BY_LETTER = {
    letter: [ending for ending in _ENDINGS if ending[-1] == letter] for letter in {ending[-1] for ending in _ENDINGS}
}


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The part that all forms of a word share: `deletes`, `deleting` and `deletion` have one stem. Crude but
    consistent."""
    word = IRREGULAR.get(word, word)
    return _without_ending(_without_ending(word))  # twice: `answered` -> `answer` -> `answ`, as `answer` itself becomes


def _without_ending(word: str) -> str:
    for ending in _ENDINGS_BY_LETTER.get(word[-1:], ()):
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
