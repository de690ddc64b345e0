"""Words that spaCy 3.8's English tokenizer splits, or leaves whole, against its rules (``lang/en``, ``lang``).

A bar shows where a word is split. Everything with an apostrophe holds for the typographic one too.
"""

from __future__ import annotations

from functools import cache
from itertools import product

__all__ = ["english_exceptions"]

_PRONOUNS = "i you he she it we they"
_PRONOUN_ENDINGS = "|ll |ll|ve |d |d|ve"
_QUESTIONS = "who what when where why how there"
_THIS, _THESE = "that this", "these those"
_NEGATED = "ca could do does did had may might must need ought sha should wo would"
_NEGATED_ONCE = "ai are is was were have has dare"
_WITH_HAVE = "could might must should would"
_NO_CONTRACTIONS = "Ill ill Its its Hell hell Shell shell Shed shed were Were Well well Whore whore"

_DROPPED_G = "doin goin nothin nuthin ol somethin lovin havin"
_SPLIT = (
    "y'|all y|all how|'d|'y How|'d|'y not|'ve not|ve Not|'ve Not|ve can|not Can|not gon|na Gon|na got|ta Got|ta let|'s "
    "Let|'s c'm|on C'm|on"
)
_WHOLE = (
    "em ll nuff 'em 'll 'nuff 'S 's \u2018S \u2018s and/or w/o 're 'Cause 'cause 'cos 'Cos 'coz 'Coz 'cuz 'Cuz 'bout "
    "ma'am Ma'am o'clock O'clock 'd ' '' \\\") <space> C++ \u2014 \\t \\n"
)
_ABBREVIATIONS = (
    "Mt. Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. Jan. Jul. Jun. "
    "Kan. Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. Nev. Nov. Oct. Okla. "
    "Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. a.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. E.G. Gen. Gov. "
    "i.e. I.e. I.E. Inc. Jr. Ltd. Md. Messrs. Mo. Mont. Mr. Mrs. Ms. p.m. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s. a. "
    "b. c. d. e. f. g. h. i. j. k. l. m. n. o. p. q. r. s. t. u. v. w. x. y. z. \u00e4. \u00f6. \u00fc."
)
_SMILEYS = (
    ":) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-} 8) 8-) (-8 ;) ;-) (; (-; :( :-( :(( "
    ":-(( :((( :-((( ): )-: =( >:( :') :'-) :'( :'-( :/ :-/ =/ =| :| :-| ]= =[ :1 :P :-P :p :-p :O :-O :o :-o :0 :-0 "
    ":() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x :-x :D :-D ;D ;-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< "
    "._. ;_; -_- -__- v.v V.V v_v V_V o_o o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 "
    "(^_^) (-_-) (._.) (>_<) (*_*) (\u00ac_\u00ac) \u0ca0_\u0ca0 \u0ca0\ufe35\u0ca0 (\u0ca0_\u0ca0) "
    "\u00af\\(\u30c4)/\u00af "
    "(\u256f\u00b0\u25a1\u00b0\uff09\u256f\ufe35\u253b\u2501\u253b ><(((*>"
)


@cache
def english_exceptions() -> dict[str, tuple[str, ...]]:
    """Return the words and the pieces each is split into.

    >>> english_exceptions()["can't"], english_exceptions()["e.g."]
    (('ca', "n't"), ('e.g.',))
    """
    contractions = {word for word in _contractions() if word.replace("|", "") not in _NO_CONTRACTIONS.split()}
    dropped = {form for word in _both_cases(_DROPPED_G) for form in (word, word + "'")}
    times = {f"{hour}|{half}" for hour, half in product(range(1, 13), ("a.m.", "am", "p.m.", "pm"))}
    degrees = {f"\u00b0|{unit}|." for unit in "cfkCFK"}
    split = contractions | dropped | times | degrees | set(_SPLIT.split())
    pieces = {word.replace("|", ""): tuple(word.split("|")) for word in split}
    pieces |= {word: (word,) for word in f"{_WHOLE} {_ABBREVIATIONS} {_SMILEYS}".split()}
    curly = {
        word.replace("'", "\u2019"): tuple(each.replace("'", "\u2019") for each in pieces[word]) for word in pieces
    }
    return pieces | curly


def _both_cases(words: str) -> list[str]:
    return [form for word in words.split() for form in (word, word.title())]


def _contractions() -> set[str]:
    """Return contractions in their two spellings, with and without apostrophes."""
    endings = {
        _PRONOUNS: _PRONOUN_ENDINGS,
        "i": "|m |m|a",
        "i you we they": "|ve",
        "you we they": "|re",
        "he she it": "|s",
        f"{_QUESTIONS} {_THIS}": "|s",
        f"{_QUESTIONS} {_THIS} {_THESE}": _PRONOUN_ENDINGS,
        f"{_QUESTIONS} {_THESE}": "|re |ve",
        _NEGATED: "|n't |n't|ve",
        _NEGATED_ONCE: "|n't",
        _WITH_HAVE: "|ve",
    }
    made = set()
    for words, tails in endings.items():
        for word, tail in product(_both_cases(words), tails.split()):
            with_apostrophes = tail.replace("|", "|'").replace("|'n't", "|n't").replace("|'a", "|a")
            made |= {word + with_apostrophes, word + tail.replace("'", "")}
    return made
