"""English as programs speak it, beyond the everyday words of english.py: words that the comments and docstrings of at
least 16 of some 420 Python modules and packages use. A word that is in none of our lists may be anybody's name."""

from __future__ import annotations

PROGRAM_WORDS = frozenset(
    """abandoned ability abort aborted absolute absolutely abstract abstraction acceptable accessed accesses accessible
    accessing accidentally accumulate accumulated accumulates accuracy accurate accurately act action actions acts
    additionally adjacent advantage age aggregate aggregated aka algorithm algorithms alias aliased aliases alive
    allocation allow allowing allows alongside alpha alphanumeric alternate alternating ambiguity analogous analysis
    ancestor ancestors anchor anchored anchors annotate annotated annotation annotations anonymous anymore anywhere
    appearance appends applicable approximate approximately approximation arbitrarily arbitrary architecture area arg
    args arithmetic arrow ascending ascii ask asked asking asks aspects assembled assert assertion assertions asserts
    associate associated assumption assumptions asynchronous asynchronously asyncio atomic atomically attacks attr attrs
    audio auth authenticate authoritative authority authorization auto auxiliary avoid avoided avoiding avoids await
    awaitable awaited awaiting awaits background backoff backslash backslashes backtracking backward backwards bail
    baseline basename batch batched batches begin beginning begins behind believe benefit besides beta binary bind
    binding bindings binds blank blob blow bogus bookkeeping bool borrowed bottom boundaries boundary braces broadcast
    builtin builtins bunch bypass bypasses bypassing bytearray bytecode bytestring callback callbacks canonical capable
    capacity cast casting caution ceiling center central cert certificate certificates changes character characters
    charset checker checkers checkpoint checks checksum choice choices choose choosing chosen chunk chunked chunks
    circular circumstances clarity classic classification classmethod classmethods clause cleanup clearly clears closure
    cls cmd codebase codec codecs coerce coerced coercion col collapse collapsed collector collide collision collisions
    comma commas common commonly communication compact comparable comparison comparisons compat compatibility compatible
    complain complex complexity compliance compliant complicated compose composed composite compound comprehension
    comprehensive compress compressed compression concatenate concatenated concatenation concept concrete concurrency
    concurrent concurrently condition conditional conditionally conditions config configs configurable conform conforms
    confuse confused confusing confusion conjunction consecutive conservative consider considered considering considers
    consist consistency consisting consists const constrained constructor constructors consume consumed consumer
    consumers consumes consuming consumption contiguous continuation continue continued continues continuing continuous
    contrast contribute contributors control controlled controlling controls convenience convenient convention
    conventions coordinate coordinates copyright core corner coroutine coroutines correct correctly correctness
    correspond corresponding corresponds counter counterpart counts covariant coverage crash crashes creation creator
    credential criteria cross ctx ctypes cumulative cursor customization customize customized cwd cyclic daemon
    dangerous dangling dash dashes dataclass dataclasses dataset datetime dead deadlock decide decided decides deciding
    decision decisions declaration declarations declare declared declares declaring decorate decorated decorator
    decorators decrement dedicated deep deeper deeply def defensive defers define defined defines defining del delegate
    delegates delegating delimited delimiter delimiters delta denote depend dependent depending depends deprecated
    deprecation depth deque derive derived derives descendant descendants descending description descriptions
    descriptive deserialization deserialized desirable desired despite dest destroyed detection detects deterministic
    dev deviation diagnostic dict dicts digest dimension dimensions directive directives dirs dirty disables disallow
    disallowed discouraged discriminator dispatches distance distribute distributed distribution distributions doc docs
    docstring docstrings doctest dot dots dotted downstream drains dst dummy duplication dynamic dynamically eager
    eagerly earlier earliest edge edges effect effective effectively effects efficiency efficient efficiently elapsed
    element elements elif eliminate ellipsis elsewhere embed embedded embedding emit emits emitted emitting emulate
    enclosed enclosing encrypted enforce enforced enforces ensure ensures ensuring entity env envelope ephemeral epoch
    equality equivalent equivalents err errors especially etc eval everyone everywhere exact exactly examine exclusive
    exclusively exec executable executor exist existed existence existing exit exited exiting exits expansion
    experimental expiration expire expires expiry explanation exponent exponential expose exposed exposes exposing ext
    extension extensions fail failing fails failures fake fallback fallbacks fancy fashion favor fed feed fetches
    filenames filesystem filesystems finalization finalizer finite fixture fixtures flatten flattened flexibility flush
    flushed flushes fmt focus follows footer forbid force forced forces forcing forever format formats formatted
    formatter formatting formula fourth fraction fractional fragment fragments frequency frozenset fully func furnished
    garbage gave generally generate generated generates generating generator generators getattr gets gives giving global
    globally globals goes going got governing grab gracefully grammar guard guards gzip hack handshake hang hanging
    hardcoded harmless hash hashable hashed hashes hashing height held helpful hereby heuristic hex hexadecimal
    hierarchical hierarchy hint hints historical historically hold holding holds honor honored hopefully horizontal
    hostname hostnames html hyphen hyphens ideal ideally idempotent identification idle idx iff immutable impact
    implicit implicitly importable include included includes including inclusion inclusive incompatible inconsistent
    incorrectly increases increment incremental incrementally incremented incrementing indefinitely indent indentation
    indented independent independently indicate indicated indicates indicating indication indicator indicators
    indirectly individual individually inefficient inf infer inference inferred infinite infinity info informative
    inherently inherit inheritance inherited inheriting inherits initialization initialize initialized initializer
    initializing inline inlined inner innermost inplace insensitive insertion inserts inspection inspired instantiate
    instantiated instantiating instantiation intact integrate intent intentional intentionally interact interacting
    interaction interactions interactive intercept interfere interleave intermediate interpolated interpolation
    interrupt interrupted interruption intersection interval intervals introspection invalidate invariant invisible
    invocation invocations invoke invoked invokes invoking isinstance isolated isolation iterate iterated iterates
    iterating iteration iterations kernel kind kinds knowledge known knows kwarg kwargs lack lacks lambda lambdas
    latency lazily lazy leak leaked leaking leaks leftmost legacy legal legitimate lenient lexical lib lies life
    lifecycle lifetime likely likewise linear lineno listen listening literally localhost lone lookahead lookups loose
    lot lots lowercase lowercased magic magnitude makes mandatory manipulate manipulation margin markup master
    materialized math maximal meaningful meaningless means meant mechanism mechanisms memoryview mentions mess meta
    metaclass metadata meth microseconds middleware migration milliseconds mimic mimics minimal minimize minus misc
    misleading mismatches mixin mock modern modification modifications modifier modifies modulo monotonic msg mtime
    multiline multipart multiply multiprocessing mutable mutate mutated mutates mutating mutation mutations mutually
    naive named namedtuple naming nan native natively nearest nearly needing needs nested nesting net newline newlines
    nice nicely nicer node nodes non nonzero normalization normalize normalized normalizes normalizing notably nullable
    num obj observe observed observes obsolete obtain obtained obtaining occur occurred occurrence occurrences occurs
    octal octets offset offsets older oldest opaque opcode opcodes operator operators opposed ops optimal optionally
    ordinal originated originating ours ourselves outcome outer outermost outgoing outright overhead overlapping
    overlaps overload overloaded overloads overridden override overrides overriding overwrite overwrites overwriting
    overwritten ownership pad padded padding pagination paragraph parallel param parametrized params parentheses
    partition partitions pathlib pathname peer percentage permanent permissions persist persisted persistent perspective
    physical pickle pickled pickling pid ping placeholder placeholders places plaintext plugin plugins poll polling pop
    popped pops popular populate populated populates pos posix possibility possibly potential potentially pragma
    precedence predefined predicate predicates predictable preference preferences prepend prepended presumably pretend
    pretty prevent preventing prevents previously primitive primitives principle printable prior probability probably
    probe problematic processor produce produced producer produces producing programmatically propagate propagated
    propagates propagating propagation provider providers provides proxied proxies proxy prune punctuation puts
    quadratic rationale reach reachable reached reaches reaching readability readable readline readonly reasonable
    rebuild reconstruct reconstructed recreate recurse recursing recursion recursive recursively redirection redirects
    redundant referenced references referencing refresh refreshed regex regexp registers relationship relevant reliable
    reliably reload remainder remote render rendered rendering renders reorder repeat repeated repeatedly repeating
    repeats replay replayed repr representable reproduce request requested requesting requests res resets resolution
    resort respective respectively response responses responsible rest restores resumes retried retries retrieval
    retrieves retry retrying reuse reused reuses reusing rewritten rich rightmost robust root roots row rows rule rules
    said sake sane sanity says scalar scalars scan scanned scanning scenario scenarios scheme schemes scientific
    secondary secure seek seekable seeking segment segments selector selectors semantic semantics sensible sensitive
    sentinel separate separated separately separates separating separator separators seq sequential sequentially
    serializable serialization serialize serialized serializer serializes serializing shadow shadowed shallow shield
    shielded shim shortcut shorthand shut sibling siblings side sides signature signatures silence simple simpler
    simplest simplicity simplified simplify simply simulate simultaneously single singleton situation situations skip
    skipped skipping skips slash slashes snippet sole solely somehow sometimes somewhat somewhere sparse spawn spawned
    specialized specific specifically specification specifications specified specifier specifiers specifies specify
    specifying speed speedup spell spelled spelling spellings spread spurious square src ssl standalone starts stateful
    stateless static statically staticmethod stay stays std stderr stdin stdlib stdout straight straightforward strange
    strip stripped stripping strips struct stub stubs sub subclass subclassed subclasses subclassing subdirectories
    subdirectory sublicense submodule submodules subprocess subprocesses subsequent substantial substring substrings
    subtle subtract subtree subtype subtypes succeed succeeded succeeds success successive suffix suffixes superclass
    superset suppress suppressed surrogate surrounding survive survives swallow symbol symbolic symbols symlink symlinks
    symmetric synchronization synchronous synchronously synthetic sys tab tabs take taken takes taking target targets
    teardown tell tells temp temporarily terminates terminator textual themselves theory thereby thereof thin third
    thousands throughout throw throwing thrown throws tick tied time timed timedelta timeouts timer times timestamp
    timestamps timezone timing tokenize tokenizer told took toplevel topmost towards trace traceback tracebacks traces
    tracing traditional transform transformation transformations transformed transforms transient transition transitions
    translation transparent transparently traversal traverse traversing trick tricky trim trimmed trimming triple
    trivial true truly truncate truncated truncates truncating truncation try trying turns typical typically ugly
    unaffected unambiguous unary unbound unbounded unchanged uncompressed unconditionally undefined under underlying
    underneath underscore underscores understand understands understood undocumented undone unescaped unhandled
    unhashable unified uniform uniformly union unions uniqueness universal unix unlimited unmodified unnamed
    unnecessarily unnecessary unpack unpacked unpacking unpickling unquoted unreachable unreadable unresolved unsafe
    unset unsigned unspecified unstable untouched untrusted unusable unused unwrap unwrapped upper uppercase upstream
    uri usable val validates validator validators validity values variadic variance variant variants variety various
    vector vectors verbatim verbose verbosity verification verifies versa vertical violation virtual visibility wake way
    ways weakref web weight weights weird whereas wherever whichever white whitespace whitespaces width wild wildcard
    wildcards workaround worry worse worst writable writer writers writes written wrote yield yielded yielding yields
    yourself zero zeros""".split()
)
