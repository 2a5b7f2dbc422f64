"""What of the runs may be read, said and kept: the trust rule (docs/security.md). Read in this order:

    public.py        Public: interface, shared values and ordinary language, by a quorum over all runs
    secrets.py       secrets by the name of their field or the mark of their issuer, as secrets.toml has them
    personal.py      what names a person, an account, a machine or a place by its form
    instructions.py  orders in results: instruction_forms.py has their phrasings, look_alikes.py folds disguised
                     letters, and taint.py finds the calls that follow them
    copies.py        eight words in a row that runs were told
    language.py      ordinary words, which are data: words_en.txt, function_words_en.txt

secrets.py, personal.py and language.py know no collection: runs are searched by them where they come in.
"""
