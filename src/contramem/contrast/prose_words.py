"""Words for things, creatures, feelings, roles and kinds of places, which are ordinary in prose.

In a field, such a word may be what somebody called something (a project `Orchid`). In a sentence, and nowhere in a
field, a capital letter alone does not make it a name (`Raisins`, `Academy`). Frequent first names and surnames are left
out, and so are words that are brands or cities.
"""

from __future__ import annotations

PROSE_WORDS = frozenset(
    """abandon abdomen abolition abortion abroad abrupt absorption absurd abundance abundant abuse academia academic
    academy acceleration accelerator accent accessory accident accidental acclaim accommodate accommodation
    accompany accomplish accord accountability accusation accusative accuse accustom ache achievement acid acne
    acorn acoustic acquaintance acquisition acquit acrobat acronym acting activism activist actor actress acute
    adapt addict addiction addition additive adhere adhesive adjective admire admirer admission adolescence
    adolescent adopt adoption adoptive adorable adore advent adventurer adventurous adverb adversary adverse
    advertise advertisement advertising advise advocate aerial aerobics aerodynamic aerospace aesthetic afar
    affection affectionate afraid ageless agency aggression aggressive aging agony agricultural agriculture ailment
    air airfield airplane airstrike airstrip alas alchemy alcohol alcoholic alcove alga alien alkaline allegation
    allergic alley alliance alligator allowance alloy allude allure ally aloft aloud alphabetical altar altitude
    aluminum amateur amaze amazed amazing ambassador ambition ambitious ambivalent ambulance ambush amendment amnesia
    amnesty ampere amphibian amphitheater ample amplifier amplitude amuse amusement amusing analog analogy anarchy
    anatomy ancestry anchovy anecdote anemone anger angry anguish animation ankle annex annexation announcement
    announcer annoy annoying anorexia ant antelope antenna anthem anthology anthropologist anthropology antibiotic
    antibody anticipate antidote antimatter antique antler anxiety anxious anybody apartheid ape aphasia apocalypse
    apologize apology apostrophe appeal appealing appetite applause apprentice approx apricot apron apt aquarium aquatic
    arbiter arbitrage arboretum arcade archaeologist archaeology archbishop archery archetype archipelago architect
    ardent argue aristocracy aristocrat armada armadillo armageddon armchair armed armor arms army arrangement
    arrest arrogance arrogant arson artery arthritis artichoke artillery artisan artistic arts ascend ascent ashamed
    asleep asparagus assassin assault assemble assembly assessment asset assist association assorted assurance
    assure asteroid asthma astonish astounding astray astrology astronaut astronomer astrophysics asylum atheist
    athlete athletic athletics atmosphere atoll atom atrium attack attention attentive attic attitude attorney
    attract attractive audition auditor auditorium aunt autism autocracy autonomous autonomy autopsy avalanche
    avatar avenue avian avocado awake awaken awesome awful awkward awning axe axiom baboon bachelor backpack
    backyard bacteria badge badger badly baffle bagel bake bakery bald ballad ballet ballistic balloon ballot
    ballroom bamboo band bandage bandana bandit bangle banjo banker bankrupt bankruptcy banquet baptism barbarian
    barbecue barefoot bargain baritone bark barley barn barometer baroque barracks barrel barrier bartender baseball
    basement bashful basilica basketball bat bathe bathrobe battalion batter battlefield battleship bayou bazaar
    bead beak beam beast beat beaver beef beet beetle beggar behold belated belligerent belly beloved belt beluga
    bend bestow bestseller betray betrayal beware bib bible biblical bibliography bidder bigot billionaire bingo bio
    biochemistry biodiversity biological biomass biopic biosphere birthplace biscuit bison bistro bite bitter
    bizarre blackberry bladder blame blasphemy blatant bleach bleak bleed blend blink blissful blister blizzard
    bloat blockbuster blond blouse blueberry blunder blunt blur boar boardwalk boast bodyguard boil bomb bomber
    bondage bookcase bookend bookstore boom boost border boring born borough borrow botanical botanist botany bother
    bouillon boulevard bounty bourbon boutique bovine bow bowel bowl bowtie boxers boycott boyfriend bra bracelet
    brag brake brash bravery bravo breach breath breathe breathing breed breeze brew brewery bribe bribery bride
    bridegroom briefcase brigade brisk brittle broadcaster broker bronze broom broth brothel brother brotherhood
    brownie bruise brunch brutal brutality bubble buckle buckwheat builder bulky bulletproof bully bumblebee bump
    bumper bun bungalow bunk bunker buoy bureaucracy bureaucrat burglar burglary burlap burning burnt burrito burst
    bury bustle butchery butterfly buttermilk butterscotch buzz buzzer bystander cabbage cactus cadet cafe cafeteria
    caffeine calamari calamity calf caliber calorie camel campground camping campsite campus canal canary cancer
    canine canoe cantaloupe canyon capital capitalism capitalist capitol captain captive caramel caraway
    carbohydrate carbon carcass cardamom cardboard cardiac cardigan cardinal caregiver caress cargo carnivore
    carriage cartilage carton cartoon cartoonist cartridge cashew cashier casserole casualty catacomb catalyst
    catapult catcher categorize catering caterpillar cathedral cattle cauliflower cautious cavalry cave cavern
    caviar cayenne cedar celebration celebrity celery celestial cellar cello cellular cement cemetery censor
    censorship centipede centrifugal ceo certainty cetacean chairman chairperson chairwoman chalk champion
    chancellor chandelier chaos chaotic chapel chaplain charcoal chariot charlatan charm charming charter chateau
    chauffeur cheat cheater checkbook cheddar cheek cheer cheerful cheerleader cheers cheesecake cheetah chemical
    chemist cheque chess chest chick chickpea chief chili chill chilly chimney chimpanzee chinchilla chipmunk chisel
    chivalry chive chlorine choir cholera chord choreography chorus chowder chromium chronic chronicle chum chutney
    cider cigar cigarette cilantro cinematic cinematography cinnamon circuit circus cistern citadel citrus clam clan
    clap clarification clarinet clash classical claw clergy clergyman clerk climb climber cling cloak closet clothes
    clothesline clove clown clownfish clubhouse clumsy clutch coal coalition coarse coast coastal coaster coax
    cobalt cockroach cocoa coconut cocoon cod coda coefficient coffin coincide coincidence cold coliseum collaborator
    collect collectible collecting collective colonel colorful colossal columnist coma combat combatant combination
    combustion come comeback comedian comedic comedy commander commandment commissioner commitment commodity
    commoner commotion commune communicate communism communist companion compass compassion compel compensation
    competitive competitor complicate compliment composer comprehend comprise compromise comptroller comrade conceal
    conceive concentration concerto concession concierge concussion condensation condiment condo condominium
    conductor confectionery confederate confess confession confidant confidence confident confine confront
    congratulate congratulations congregation congress congressional congressman conjugate connoisseur conquer
    conquest cons conscience conscientious conscious consciousness conscription conservation conservatory consonant
    conspicuous conspiracy constituency constituent constitution constitutional construct consul contagious contain
    contempt contender contestant continual continually continuously contraband contractor contrary contribution
    controversial controversy convent converge convergence convex convey conveyor convict convince convincing convoy
    cookbook cooker cookery cookware cool cooler cooling coping copper cordial corkscrew corn cornbread cornstarch
    coronation coroner corp corps corral corridor corruption cosmetic cosmic costume cottage cougar cough council
    councillor countertop countess countryside coup courageous courier courteous courtesy courthouse courtroom
    courtyard covenant cow cowboy coyote crab crabmeat crack cracker cradle craftsman cramp cranberry crate crater
    crave craving crawl crayfish crayon crazy cream creamy creature creek creep creepy cremation crepe crevice crib
    cricket criminal crimp cringe crispy criticize crocodile croissant crooked crossing crossroad crosswalk
    crossword crouton crowd crowded crowdfunding crude cruel cruelty crumb crumble crunch crunchy crusade crusader
    crush crust crustacean cry crypt crystalline cub cucumber cuddle cuff culinary culprit cumbersome cupboard
    cupcake curator curb curd cure curfew curiosity curl curve curved custard custodian custody cute cutlery cutlet
    cyanide cyclist cyclone czar dad daddy daffodil dagger dairy dam damp dandelion danger dare daring dark darken
    darkness darts daycare daylight dazzle dazzling deadly debtor decathlon decay deceive deception decibel decisive
    declension decoration decorative decree dedicate dedication deduction deed deer defeat defence defend defendant
    defender defense defiance deficit definite defy degrade degree deity dejected deli delicacy delicate delicious
    delight delightful delirium deluxe dementia demise democracy democrat democratic demon den dense deodorant
    depart deplete deportation depot depress depressed depressing depression dept deputy dermatology descent desert
    deserted despair desperate despotism destroy destroyer destruction detain detainee detective deter detergent
    deteriorate determination determiner deterrent detest devastate development devil devote devotion dew diagnosis
    dialect diaper diaphragm diarrhea dictator dictatorship dietary difficulty diffraction diffusion dig digestion
    dignity dilemma diligent dim diminish diner dinosaur diocese diode dioxide diplomacy diplomat diplomatic dipole dire
    dirt disadvantage disarmament disaster disastrous disc disciple discipline disclosure discourage discrimination
    discuss disgrace disguise disgust dishwasher disinfectant dismal dismay disorderly disperse disrupt dissertation
    distant distillation distillery distort distract distraction distress disturb dive divergent dividend divinity
    divorce dizzy doctrine dogma dolphin dominate dominoes donkey doom doorbell doorknob doormat dosage doubtful
    dough doughnut downfall downhill downstairs downtown downward dowry dr dragon dragonflies dragonfly dramatic
    drape dreadful dreamer driveway drizzle drown drowsy drug drunk dryer duchess duckling dude duet dull dumb
    dumpling dungeon durable dusk dust duty duvet dwarf dwell dweller dwelling dynasty dystopia eagerness ear
    earmuffs earring earth earthly earthquake earthworm easel east eastbound eastward eaten ecclesiastical eclipse
    ecological ecology economical ecosystem ecstasy edible edict educate eel eerie eggnog eggplant eigenvalue
    elasticity elated elbow elderly eldest electrical electrode electrolyte electromagnetic elephant elevate
    elevator elf elite elk eloquent elusive emancipation embargo embark embarrass embarrassed embarrassing embassy
    embezzlement embrace embryo emigrant eminent emission empath empathy emperor emphasize empire empirical employ
    employment empower empress emu encampment enchant enchanting enclave encore encouragement encrypt encryption
    encyclical endanger endangered endear endless endorsement endurance endure enemy engage engraving enigma enjoy
    enjoyable enjoyment enlarge enlightenment enquiry entangle entertain entertainer enthusiasm enthusiast entice
    entirety entitle entrance entree entrepreneur entropy entrust environmental envision envoy envy epidemic
    epilepsy epilogue episode epistemology epistle equation equator equestrian equilibrium equity eraser erect erode
    erosion erratic erupt eruption escalator espresso est establishment esteem estrogen estuary eternal eternity
    ethanol ethic ethnography etymology eucharist euphoria evade evangelical evaporate evergreen eviction evil
    evolution exaggerate exalt examination excellence excite excited excitement exciting execution executioner
    exhale exhibit exile existential expedition expertise explode exploit exploration explosion explosive extent
    exterior extinct extinction extortion extravagant extremist eye eyebrow eyeglasses eyelid eyewear eyewitness
    fable fabulous facade facility factorial fade fader faint fallacy fallen falter famine fan fanatic fanciful
    fandom fanfare fantasy farce farmhouse farmland farther fascinate fascinating fascination fascism fascist
    fashionista fasten fat fate fatigue faulty fauna fear feast feather feeble feel feeling feelings feline felony
    felt feminine femininity feminist fennel ferocious ferret fertile feta fetus feud feudal feudalism fever fiance
    fiancee fiddle fidelity fierce fiery fig figurine filament fillet filmmaker filmography filthy fin finger
    fingernail fir firefighter fireplace firewood fireworks firm firmly firsthand fiscal fisherman fission fist
    flair flame flannel flare flashlight flashy flask flatter flavor flavour flaw flawless flea flee flesh flew
    flicker flirt flock flood flooded flourish flown flu fluctuate fluff fluid fluorescent fluorine flute fly flying
    foal foe fog foil foliage folk fond fondness fondue fool foolish foosball footprint footstep footstool footwear
    forehead foreigner foresee foresight forgave forgery forgive forgiveness forlorn formaldehyde formidable fort
    fortress fortunate fossil foul foundation foundry fowl foxes fracture fragile fragrance frantic fraud freak
    freelancer freeway frenzy fresco freshman friction friendship fries frigate fright frighten frightened
    frightening frog frosting frown frustrate frustrating frustration frying fudge fugitive fume fun funeral fungi
    fungus funnel fur furious furnace fuse fusion futile gallant gallon gambling gamer gangster gangway garment
    gasoline gasp gatherer gaze gazebo gazelle geese gelatin gelato gemstone genealogy generalist generosity
    generous genitive genius genocide genome gentleman gentlemen gently genus gerbil germ geyser ghetto ghost giant
    gig giggle gin gingerbread giraffe girdle girlfriend glacier glad gladiator glamorous glance gland glare gleam
    glee glider glimpse glitter globalization gloom gloomy glorious glow glucose glue gnome goalkeeper goat god
    goddess godly gods goggles goldfish golf golfer goodwill goose gopher gorgeous gorilla gospel gossip gothic gourmet
    government governmental govt gown graceful gracious gradual graffiti grain gram gramme grandchild granddaughter
    grandeur grandfather grandma grandmother grandpa grandparent grandson granite granola grape grapefruit graphite
    grass grasshopper grassland grassroots grater gratitude gravel graveyard gravitational gravity gravy greed
    greedy greenhouse greet greeting grenade grief grim grin grip grits groan grocer grotesque groundwork growth
    grudge grumble guacamole guardian guava guerrilla guesthouse guild guilt guilty gulf gum gun guru gut gymnasium
    gymnast gymnastics gyroscope hacker hacksaw haiku hail hairbrush hajj halftime hallucination hallway halogen
    hamburger hammock hamster handbag handball handcuffs handful handicap handkerchief handlebar handmade handsome
    handy handyman hangar hanger hanky happily happiness harass harbour hardship harmonica harmonious harvest haste
    hasty hatchet hatred haunt haunted haunting hawthorn hazardous hazelnut headache headband headlight headquarters
    headrest heal healer heart heartbeat heartbreak heartfelt hearth heathen heaven heavenly heavily hedge hedgehog
    heel heir heiress helium hell hem hemisphere hen herbivore herd heredity heresy heretic hermit heroic heroine
    heroism hesitant hesitate hesitation hibernate hideous hideout higher hike hiker hilarious hillside hilltop
    hinder hindsight hip hippopotamus hoarse hoax holy homage homeland homelessness homestead homicide homily
    honesty honeydew hoodie hoof hopeful hopscotch horizon hormone hornet horrible horrific horror horseradish hose
    hospitality hostage hostess hostile hostility hotdog hotspot hound household housewife hover howl hub humane
    humanitarian humanity humble humid humidity humiliate hummingbird hummus humor humorous hunger hungry hunting
    hurdle hurl hurricane hurry hurt hush hustle hut hydraulic hydrogen hydroxide hyena hymn hypnosis hypnotism
    hypocrite hypothetical hysteria hysterical iceberg icebreaker icy idealism idol igloo ignition ignorance
    ignorant iguana ill illusion illustration illustrator illustrious imagination imaginative imitate imitation
    immediacy immense immersion immigrant immigration imminent immortal immortality immune immunity impair impartial
    impatient impeach impeachment imperfect imperial imperialism impersonal implement implication impolite imposter
    impress impression impressive imprisonment improv improvement improvise impulse impulsive inability inauguration
    inc incense incident incredible indictment indifference indifferent indulge industrial inert inertia inexpensive
    infamous infantry infect infection inferior infinitive inflammation inflation informant infrared infrequent
    infuriate ingenious ingest inhabit inhale inherent initiative injunction injure injury ink inland inmate inn
    inning innkeeper innocence innovate innovative inorganic inquire inquiring inquisition inquisitive insane
    insanity inseparable insignificant insomnia inspiration inspirational instinct institution instructor instrument
    instrumental insulin insult insulting insurgent insurrection integrity intense intensity intention intergalactic
    interior intern interpersonal interstellar intestine intimacy intimate intimidate intrigue intriguing intro
    intruder intrusion intuition invade invader invasion invention inventor invertebrate invest investigation
    investing involvement iodine ionic ionization iron ironclad ironic irony irrational irregular irresistible
    irritable irritate isotope isthmus itch jackpot jagged jalapeno jam janitor jaw jaws jealous jealousy jelly
    jellyfish jetty jewelry jockey jog jogging journalist joyful joyous joystick jr judgement judgment judicial
    judiciary jug juggle juggler juicy jukebox jumble jumper junction jungle junior junkyard jurisdiction juror
    juvenile kangaroo karaoke karate keeper keepsake kennel kerosene ketchup keychain kidnap kidnapper kidnapping
    kidney kilt kindergarten kindly kindness kinetic kinship kiosk kiss kite kitten knapsack knee kneel knit
    knitting knob knock knot knuckle koala kosher labor laborer laborious lace lacking lacquer lad ladybug lager
    lagoon lair lament landfill landowner languish lantern larceny larva lasagna latte laugh laughable laughter
    laundromat laundry laureate lava lavish lawmaker lawsuit layman laziness leafy league leap leash lecturer ledge
    legendary legion legislation legislative legislator legislature legume leisure lemonade lemur lender lengthy
    lentil leopard lesbian lethal lettuce lever liar libel liberation licence lichen licorice lie lieutenant
    lifeguard lifeless lifelike lifelong lift lightbulb lighter lighthouse lightning likable limestone limp linen
    linguist linguistic linguistics lion lip lipstick liqueur liquid liquor listener lit liter lithium litigation
    litre liturgy livelihood livestock lizard llama loaf loathe lobbyist lobster locker locket locust lodger lodging
    lollipop loneliness lonely lookout loom loosely loot lorry lotion loud loudly lovable lover lower loyalty ltd
    lucid lumber lump lunar lunchbox lung lunge lure lurk lust lying lynx lyric lyrical lyrics macadamia macaroni
    macaw machinery macronutrient mad madness magical magician magistrate magma magnesium magnet magnetic magnetism
    magnificent magpie maid maiden mailbox majestic majesty majority maker makeshift malaria malice malicious
    mammoth management mandolin maneuver mango mangrove manifesto mankind manor manservant mansion manslaughter
    mantel manufacture marathon margarine marinade marinate marital maritime marmalade marriage married marshmallow
    marsupial martial martyr marvelous mascara mascot masculine masculinity massacre massage masterpiece matchbox
    material mathematician matinee matron mature maturity mausoleum mayhem mayonnaise maze meager meantime measles
    meatball meatloaf mechanic medal medallion mediator meet megacity melancholy melodic melodrama melon melt meme
    memorandum memorial men meningitis menstrual mental mentor mercenary merciless meringue mermaid mesmerize messy
    metabolic metabolism metallic metallurgy metaphor metaphysical metaphysics meteor meteorite meteorologist
    meteorology methane methodological metrology metropolis metropolitan mice microbe microbial microbiology
    microscope microscopic microwave midway midwife mighty migraine migratory mild militia milkshake millionaire
    mime mindful mindset mineral ministry mint miraculous mischief mischievous miserable misery misfit missile
    missionary mist mistaken mistress mitochondria mitten moan moat mob moccasin modal molar molasses molecular
    mollusk mom momentary momentous momentum mommy monarchy monastery monetary mongoose monk monkey monopoly
    monotonous monsoon monstrous monument monumental moonlight moose mop moped morbid morpheme morphology mortal
    mortality mortgage mosaic mosque mosquito motel moth motive motorcycle motorist motorway mourn mourner mournful
    mousepad mousetrap mousse mouth movement mud muffin mule mum mumble mummy mundane munition mural murder murderer
    mushroom mussel mutilate mutiny mutter mysterious mystic mysticism mythical mythology nanny nanometer nap napkin
    narrator narwhal nasty nationalism nationalist nationwide naughty nausea naval nebula neck nectar negligence
    neighbor neighborhood neighbourhood nephew nerdy nerve nervous nervousness neurology neuron neuroscience
    neurosis neutron nevertheless newborn newcomer newly newlywed newt nickname niece nightgown nightstand nimble
    nipple nitrate nitrogen nobility nocturnal noisy nomad nominative noodle normative northeast northeastern
    northern northward northwest northwestern nose nostalgia nostalgic nostril notepad noteworthy nougat noun novel
    novelist novelty novice nozzle nuance nuclei nucleus nudge nuisance numb numeral nun nursery nurture nutmeg
    nutrient nutrition nutritionist nutritious nylon oar oat oath oatmeal obelisk obese obesity obituary oblivion
    oblivious obnoxious oboe obscene obscurity observatory obsess obsession occasion occult oceanic oceanography
    octopus oddity oddly odor offence offend offender offense offspring oligarch olympic ombudsman omelet omen
    ominous onset opponent opposition oppress oppression oppressor opt opted optic optical optics optimism
    optimistic orbital orchestra orchestral orchid ordeal ore oregano organ orgasm origami originality ornament
    ornate ornithology orphan orphanage orthodox orthopedic oscillation osmosis ostrich ought outback outbreak
    outburst outcast outhouse outlandish outlaw outlive outpost outrage outrageous outsider outskirts outspoken
    outweigh ovary overjoyed overseas overthrow overwhelm overwhelming owl ox oxidation oxide oyster ozone pace
    pacifier packet pact paddle padlock pageant pagoda pail painful painless paintbrush pajamas paladin pale
    paleontology palm pancake pancreas pandemic panther pantomime pantry pants papacy papal papaya paprika parabolic
    parachute parade parakeet paralysis paramedic parasite parasol parliament parliamentary parlor parmesan parody
    parole parsley parsnip partake participle partnership passage passageway passerby passion pastel pastime pastry
    pasture pathetic pathogen pathway patriarch patriot patriotism pavement pavilion paw peaceful peanut peasant
    pebble pecan pedagogue pedal pediatric peek pelvis penalty pendant pendulum penicillin peninsula pension
    pensioner penthouse pepperoni perch percussion perfection performer peril perilous periodic perjury perplex
    persecution perseverance persevere persistence persuade persuasion persuasive pessimism pesticide petal petition
    petroleum petticoat phantom pharmaceutical pharmacist pheasant philanthropist philanthropy philology
    philosophical phoneme phonetic phonetics phosphate phosphorus photocopy photographer photography photon
    photosynthesis physically physiology pianist piano picnic picturesque piety pig pigeon pigment pile pilgrim
    pilgrimage pill pillar pilot pinch pineapple pint piracy pirate pistachio pistol pit pitch pitchfork pitiful
    pity placebo placenta plague plaintiff planetarium planetary plankton plantation plasma platinum platter
    platypus play playable playground playhouse playing playmate playoff playroom playwright plaza plea plead pledge
    plentiful plenty plight plow plumage plumber plumbing plunder plunge plural plywood pneumatic pneumonia poach
    poetic poetics poison poisonous poker policeman policymaker polio polite political politically pollination
    pollute pollution polyester polymer polytechnic pomegranate ponder poppy popsicle populace popularity population
    populism porcelain porch porcupine pork porpoise porridge portray possession possessive postman potassium potato
    pottery pouch poultry pounce pour pout poverty powerful practical practically prairie praise praline prank prawn
    prayer preach preacher precinct precision predicament pregnancy pregnant prejudice premier premiere preparation
    prequel prescription present presidency presidential pressure prestige prestigious presume pretender pretentious
    pretzel prevention prey prick pride priestess priesthood primal primate primeval prism prison prisoner prodigy
    prof profession projectile prologue prolong promo promote prone pronunciation propaganda propeller prophecy
    prophet proportion proprietor propulsion pros prose prosecution prosecutor prospect prospector prosperity
    prostitute prostitution protagonist protect protest protestant proton protozoa proverb province provocative
    provoke prowess psalm psyche psychiatric psychiatry psychic psychoanalysis psychological psychologist psychology
    psychopath psychotherapy pub puberty publication publicity pudding puddle puffin pulsar pulse pumpkin punch
    puncture punish punishment punk puppet puppeteer puppy purifier puritan purity purple purse pyramid quaint quake
    qualification quark quarrel quarry quarterback quesadilla quiche quicksand quill quilt quinoa quirky quiver
    quotient rabbi rabbit raccoon racial racism racist radar radiance radiant radiation radiator radioactive radish
    radium raffle raft rage raiding railing railroad rainbow raincoat rainfall rainforest rainy raisin rake ramp
    ranch rap rapper rarity rash raspberry rat ratchet ratify ravage ravioli razor reactor ready realism realistic
    reality realm reap rearview rebellion receptionist receptor recession reckless reckon recline recluse
    recognition recoil reconcile recovery recruit recruiter rectory redeem redemption reduction reef referee
    refinery reflex reformation refrain refreshment refrigerator refuge refugee refusal reggae registrar regulation
    rehearsal reign reincarnation reindeer rejoice relativity relax relaxed relaxing relentless relic relish
    reluctance reluctant remedy remembrance reminisce remix remorse removal renaissance renewal renown renowned
    reparation repel repent repentance replenish reptile reptilian republican reputation rescue resemblance resemble
    resent resentment reservoir resilience resilient resistance resolute resonance respectful respiratory
    restoration restrain restraint restriction restroom resurrection retaliate retiree retro revelation revenge
    revere reverence revival revive revolt revolution revolutionary revolve rhetoric rhetorical rhinoceros rhubarb
    rhyme rhythmic rib rid ridden ridicule ridiculous rifle rigging righteous rigid rink rinse riot rising risky
    rivalry roadside roam roast robber robbery rock rocket rodent roll rookie roommate rooster rope rotten
    roundabout rowdy royalty rub rubber rubbish rudder rude rugby ruler rum rumble rumor runner rustic ruthless rye
    sabbath sabotage saboteur sack sacrament sacrilege sad saddle sadness saffron saga sail sailboat sailing sailor
    salamander salami salesman salesperson saliva salon salsa salvation samurai sanction sanctuary sandstone sank
    sapphire sarcasm sarcastic satchel satin satire saucepan saucer sauna sausage savior savoury saw sawdust sawmill
    saxophone saying scallion scallop scalp scandal scapegoat scar scare scared scary scent schizophrenia scissors
    scold scone scoop scorn scorpion scout scrapbook scream screenplay screwdriver scribe scripture scrub sculptor
    sea seafood seagull seahorse seaport seashell seaside seaweed secrecy secretive sedative sediment seductive
    seedling segregation seismic seize selection selfish semester semiconductor seminary semiotics senate senator
    senile sensation sensational sensory sentiment sentimental sentry separation sequin serenade serene serenity
    serfdom sergeant sermon serum servant sesame sew sewer sewing sewn sex sexism sexual shabby shack shake shaken
    shaky shallot shame shameful shampoo shareholder shatter shave shawl sheep sheer sheet shelter sherbet shingle
    shiny shipyard shire shiver shock shocked shocking shoelace shone shook shoot shooting shopkeeper shopper shore
    shoreline shortstop shot shout shove shovel showroom shriek shrimp shrine shrub shuffle shutter shy sick
    sickness sideways siege sigh sight silly silo silverware simile simmer sin sincere sincerity sing sinister sinus
    sirloin sit sitcom skate skater skeleton skeptic skewer ski skier skillet skirt skit skull skunk sky skyscraper
    slam slap slave slavery slaw sled sleepy sleeve slender slept slid slim sling slip slipper slippery slogan
    sludge slug slum smash smear smell smile smirk smog smoke smoker smoking smooth smoothie smoothly smother
    smuggle smuggling snail snake snap sneak sneeze sniper snore snout snowfall snowflake soak sob sober socialism
    socialite sociologist sociology sodium soil solar solarium solemn solitary solitude soloist solstice solvent
    sonar sonnet soot soothe sophisticated sophomore soprano sorbet sorcerer sordid sore sorrow sought soundtrack
    sour sourdough south southeast southeastern southern southward southwest southwestern souvenir sovereign
    sovereignty soy spacecraft spaceship spacetime spade spaghetti spare spasm spatula spectator spectral
    spectrometer spectroscopy spicy spider spin spinach spine spinoff spinster spite splash spleen splendid splendor
    spoil spokesman spokesperson spokeswoman sponge spooky sportsmanship sprain sprang spray sprinkle sprinkler
    spruce spur spy squad squadron squash squat squeeze squid squirrel stability stadium staffer stagger staggering
    stain stair staircase stairs stairway stake stalk stamina stanza stapler starch stare starfish startle starve
    statehood statesman statistical statistician statute steadily steak steal stealth steep steeple stellar
    stepchild stepchildren stepdaughter stepfather stepmother stepson stethoscope stew stewardess stiff stilts
    stimulus sting stinger stingray stink stir stirrup stockbroker stoic stole stolen stomach stopwatch storyteller
    storytelling stove strain strait stratosphere strawberry strenuous stretch strife strike strive stroke stroll
    stronghold strove struck stubborn stumble stun stunning stunt sturdy stylish stylist subdue sublime subpoena
    subsidy subtlety suburban succumb suck sudden suffer suffocate suffrage suggestion suicide sulfur sulk sulphur
    summon summons sumptuous sundae sunflower sunlight sunrise sunset superb superconductor superhero supermarket
    supernova superstar superstition supervisor supper supporter supremacy surf surfer surfing surge surgical
    surname surpass surrender surveillance suspenders suspense suspicion sustain sustainable swam swamp swarm sway
    swear sweat sweater sweatshirt sweep sweetener swell swelling swept swim swimmer swimsuit swirl swollen swoop
    sword swore sworn swung syllable syllabus symbiosis sympathetic symphony synagogue syndrome synth syringe syrup
    tabletop taco tadpole takeaway takeout tall talon tame tangent tangerine tangible tangle tango tank tape
    tapestry taqueria tarantula tariff tarp tasty tattoo taught tavern taxation taxonomic taxonomy taxpayer teach
    teahouse teammate teapot tear tease technician technological tectonic tedious teen teenage teenager teeth
    telecast televised television temper temperate tempt temptation tender tenderness tennis tenor tent termite
    terrace terrain terrible terrific terrify terrifying terror terrorist testament testify testimonial testimony
    textbook textile thankful thaw theater theatrical theft theocracy theological theology therapist thermal
    thermodynamic thermometer thesaurus thesis thick thief thieves thigh thimble thirst thirsty thistle thorn
    thoroughfare thoughtful thoughtless threat threaten threatening threw thrill thrilled thrilling thrive throat
    throb throne thrust thug thunder thunderous thunderstorm thyme tickle tide tile tilt timetable tin titanium
    tithe toad toast toaster toddler toe toffee tofu togetherness toilet toiletry tolerant tolerate tollbooth tongue
    tonight tooth toothpaste torah torch torn tornado torpedo tortilla tortoise torture torturer toss totalitarian
    totem toucan tough tournament toxic toxin tractor trader tradition trafficking trail trailhead trainee trainer
    trait traitor trample trampoline tranquil tranquility transcend transistor transitory translator transmitter
    transportation trapdoor trauma traveller travesty treacherous treachery treadmill treason treasure treasurer
    treasury treatise treatment treehouse treetop tremble tremendous tremor trench trendy trespass trespasser tribal
    tribunal tributary tribute tricycle trigonometry trilogy triumph triumphant trivia trivialize trolley trombone
    trophy tropical tropics troubadour troublesome truce truffle trumpet trunk trustee tsunami tub tube tuberculosis
    tugboat tulip tumble tumor tuna tundra tune tunnel turbine turbulence turf turmeric turmoil turnip turtle tuxedo
    tweezers twig twilight twin twist twisted tycoon typhoon tyrannosaurus tyranny tyrant ukulele ulcer ultimatum
    ultrasonic ultraviolet umbilical umpire unacceptable unbearable unbelievable uncanny uncle unconscious
    undertaker underwear unemployed unemployment unforgettable unfortunate unfriendly unhappiness unicorn unicycle
    unite unkind unleash unlucky unpleasant unraveling unreasonable unveil uphill uphold upholstery uplift uplifting
    upright uprising upset upsetting upstairs uranium urban urge urine urn utensil uterus utopia utter utterly
    vaccinate vaccine vagabond vain valet valiant valley valor valve vampire vandalism vanish vanity vapor variation
    vase vassal vault veal vegetate vegetation veil vein velocity vengeance venom ventriloquist venture veranda
    verdict vernacular versatile versatility verse vertebra vertebrate vest veterinarian veterinary veto vetting
    viaduct vibration vicar viceroy vicious videogame vigilante vigor vigorous vile villager villain vindictive
    vinegar vineyard vintage violent violin violinist viscosity viscous visionary visor vitality vitamin vivid vocal
    vocalist vodka vol volatile volcanic volcano volleyball volt voltmeter vomit voter vow vowel vulgar vulture
    waffle wage wagon waistcoat waitress walkthrough walnut walrus warbler wardrobe warfare warhead warlord warm
    warmth warrant warrior warship wartime wary wasabi wash washer washing wasp wasteful watchlist watchtower watercolor
    watercress waterfall waterfront watermelon waterway wave wavelength wax weary weasel weed weep weightlifter went
    wept western westward wet wetland whale wharf wheelbarrow wheelchair whim whimsical whip whipped whirlpool
    whiskey whisky whisper whistle whistleblower wholesome wicked widow widower wife wig wilderness wildly wind
    winding windmill windshield winery wing wink winner witch witchcraft witness witty wives wizard woe wok woke
    woken wolves womanizer womb wonderland woodcutter wooden woodpecker woodshed woodwind woodwork woodworking wool
    woolen wore work workforce working worm wormhole worn worried worship wound wounded wove woven wrath wreath
    wreck wrestle wrestler wrestling wretched wrinkle xylophone yacht yak yam yarn yawn yearn yeast yell yoke
    youngster youthful zeal zealous zebra zest zigzag zinc zodiac zombie zoo zoologist zoology zucchini""".split()
)
