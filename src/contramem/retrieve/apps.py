"""Infers which apps a task is about from its words and the bank's app and function names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from contramem.retrieve.intent import VERBS
from contramem.retrieve.tokens import tokenize

# Parts of app names that name no subject: EmailClientV2, CabApp, company_directory_service.
_GENERIC = frozenset("app client service system tool api server manager v agent user interface general default".split())


class AppVocabulary:
    """The words that identify one app. Built once per bank, so that a query is a few dictionary look-ups."""

    def __init__(self, functions: Iterable[str]) -> None:
        """Takes names of the form `App.function`. A word identifies an app if it occurs only in that app's name, or in
        no app's name and only in that app's functions. Verbs (`send`, `list`) identify none."""
        in_names, in_functions = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for app, _, function in (name.partition(".") for name in functions):
            for word in tokenize(app):
                in_names[word].add(app)
            for word in tokenize(function):
                in_functions[word].add(app)
        owners = {word: in_names.get(word) or apps for word, apps in (in_functions | in_names).items()}
        self._app_of = {
            word: next(iter(apps))
            for word, apps in owners.items()
            if len(apps) == 1 and word not in _GENERIC and word not in VERBS and not word.isdigit()
        }

    def apps_in(self, words: Sequence[str]) -> frozenset[str]:
        """The apps that the words of a task identify; empty if the task names none."""
        app_of = self._app_of
        return frozenset(app_of[word] for word in words if word in app_of)
