"""The Chinese edition: what its catalogues make, and as much of it as there is."""

import json
import re
import sys
from collections import Counter
from enum import Enum
from pathlib import Path

import polib
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import translate  # noqa: E402  (of scripts/)
import work  # noqa: E402

from helpers import exercises, language, predictions, words  # noqa: E402
from helpers.exercises import judging, texts  # noqa: E402
from helpers.words import Kind, Next, Part, Refusal, Shown  # noqa: E402
from softgpu import words as softgpu_words  # noqa: E402
from softgpu.faults import FaultKind  # noqa: E402
from softgpu.phrases import Said, joined  # noqa: E402
from softgpu.tests.facts import refused  # noqa: E402
from softgpu.words import Does, FindingKind, Happened, Place, Thread  # noqa: E402

PAGES = translate.edition()
NOTEBOOKS = [page for page in PAGES if page.endswith(".ipynb")]
ENTRIES = [(page, e) for page in PAGES for e in translate.read(Path(page).stem) if e.translated()]
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def prose(text, is_notebook):
    """The text of a page without code."""
    if not is_notebook:
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def test_what_is_there_in_chinese():
    assert [Path(page).stem[:2] for page in NOTEBOOKS] == [f"{n:02}" for n in range(13)]
    assert {"README.md", "notebooks/glossary.md"} < set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_what_their_catalogues_make(page):
    assert [e.msgid for e in translate.read(Path(page).stem)] == translate.passages(page)
    if page in translate.WRITTEN:
        assert (ROOT / PAGES[page]).read_text() == translate.made(page, PAGES)


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_code_and_outputs_are_those_of_the_original(page):
    texts = (ROOT / page).read_text(), translate.made(page, PAGES)
    ours, theirs = (json.loads(text)["cells"] for text in texts)
    assert [c["id"] for c in ours] == [c["id"] for c in theirs]
    for our, their in zip(ours, theirs):
        if our["cell_type"] == "code":
            assert our == their
        else:
            assert our["source"] != their["source"], (
                f"{our['id']}: its entry in {page}'s .po is empty"
            )


@pytest.mark.parametrize("page, entry", ENTRIES, ids=lambda x: getattr(x, "msgid", x)[:40])
def test_a_translation_has_the_code_and_the_links_of_its_original(page, entry):
    if "](README" in entry.msgid:  # which lead from one language to the other
        return
    english, chinese = entry.msgid, entry.msgstr
    links = [Counter(map(str, LINK.findall(text))) for text in (english, chinese)]
    assert links[0] == links[1]
    code = [Counter(CODE.findall(text)) for text in (english, chinese)]
    if page != "README.md":  # which tells more of the Chinese edition
        assert code[0] == code[1]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text, glossary = (translate.made(name, PAGES) for name in (page, "notebooks/glossary.md"))
    for path, source in LINK.findall(prose(text, page in NOTEBOOKS)):
        target, _, anchor = (path or source).partition("#")
        if target.startswith("http"):
            continue
        file = (ROOT / PAGES[page]).parent / target if target else ROOT / PAGES[page]
        assert file.exists(), target
        if anchor and file.name == "glossary.md":
            assert f'id="{anchor}"' in glossary, anchor


def test_words_have_the_names_by_which_links_find_them():
    english = re.findall(
        r"^### (?:<a id=\"(.*)\">|(.*)$)", (ROOT / "notebooks/glossary.md").read_text(), re.M
    )
    wanted = [name or word.lower().replace(" ", "-") for name, word in english]
    chinese = translate.made("notebooks/glossary.md", PAGES)
    assert re.findall(r'^### <a id="(.*?)">', chinese, re.M) == wanted


def test_a_passage_that_changes_is_english_again_and_asks_for_its_translation(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(translate, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(
        "# Title\n\nOne old passage of some length.\n\n```\nx\n\ny\n```\n"
    )
    catalogue = translate.merged([], translate.passages("page.md"))
    for entry, text in zip(catalogue, ("# 标题", "一段旧文字。")):
        entry.msgstr = text
    pages = {"page.md": "zh/page.md"}
    assert (
        translate.made("page.md", pages, catalogue)
        == "# 标题\n\n一段旧文字。\n\n```\nx\n\ny\n```\n"
    )
    (tmp_path / "page.md").write_text("# Title\n\nOne new passage of some length.\n")
    catalogue = translate.merged(catalogue, translate.passages("page.md"))
    assert (
        translate.made("page.md", pages, catalogue) == "# 标题\n\nOne new passage of some length.\n"
    )
    (entry,) = (entry for entry in catalogue if not entry.translated())
    assert entry.fuzzy and entry.msgstr == "一段旧文字。"
    assert entry.previous_msgid == "One old passage of some length."


@pytest.mark.parametrize(
    "english, chinese, now, want",
    [
        ("2,995 of 3,145, 95 %.", "3,145 个中的 2,995 个，95 %。", "3,027 of 3,177, 95 %.",
         "3,177 个中的 3,027 个，95 %。"),
        ("1 of 2, 2.5 x", "2 中的 1，2.5 x", "2 of 1, 2.5 x", "1 中的 2，2.5 x"),
        ("in 4 steps, 4 µs", "四步，4 µs", "in 5 steps, 5 µs", ""),  # one of them is a word there
        ("4 of 4", "4 中的 4", "4 of 5", ""),
        ("4 of 5", "5 中的 4", "4 out of 6", ""),
    ],
)  # fmt: skip
def test_numbers_that_change_alone_need_no_translator(english, chinese, now, want):
    before = polib.POEntry(msgid=english, msgstr=chinese)
    assert translate.renumbered(before, now) == want
    (entry,) = translate.merged([before], [now])
    assert entry.fuzzy == (not want) and entry.msgstr == (want or chinese)


@pytest.mark.parametrize("language", ["zh", "", "en"])
def test_the_lab_is_in_the_language_that_is_asked_for(language, tmp_path, monkeypatch):
    monkeypatch.setattr(work, "WORK", tmp_path)
    monkeypatch.setenv("COURSE_LANGUAGE", language)
    work.update()
    is_chinese = language == "zh"
    assert ("核函数" in (tmp_path / "00_first_kernel.ipynb").read_text()) == is_chinese
    assert ("术语表" in (tmp_path / "glossary.md").read_text()) == is_chinese
    assert "The question." in (tmp_path / "13_product.ipynb").read_text()
    for notebook in tmp_path.glob("*.ipynb"):
        for path, source in LINK.findall(prose(notebook.read_text(), is_notebook=True)):
            target = (path or source).partition("#")[0]
            assert target.startswith(("http", "../")) or (tmp_path / target).exists(), target
            if target.startswith("../"):
                assert (ROOT / "work" / target).resolve().exists(), target


def test_a_language_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "WORK", tmp_path)
    monkeypatch.setenv("COURSE_LANGUAGE", "xx")
    with refused(SystemExit, "xx", "en and zh"):
        work.update()
    assert not any(tmp_path.iterdir())


def in_chinese(text, monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "zh")
    return language.told(text)


TABLES = ["verdicts", "predictions"]


CODES = [
    code
    for module in (softgpu_words, words)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Enum) and kind.__module__ == module.__name__
    for code in kind
]


def test_every_phrase_has_words_with_the_blanks_of_its_original():
    table = json.loads((ROOT / "publish/translations/zh/words.json").read_text())
    faults = {kind.name for kind in FaultKind if kind}
    assert table.pop("FaultKind").keys() == faults
    told = {(kind, name) for kind, phrases in table.items() for name in phrases}
    assert told == {(type(code).__name__, code.name) for code in CODES}
    blank = re.compile(r"\{.*?\}")
    for code in CODES:
        chinese = table[type(code).__name__][code.name]
        assert {*blank.findall(code.value)} == {*blank.findall(chinese)}, code


def test_exercises_have_the_titles_of_their_pages():
    table = json.loads((ROOT / "publish/translations/zh/verdicts.json").read_text())
    for _, entry in ENTRIES:
        if entry.msgid.startswith("### ") and "Hint 1" in entry.msgid:
            title, chinese = (text.partition("\n")[0][4:] for text in (entry.msgid, entry.msgstr))
            assert table[title] == chinese


LAUNCH = {"launch": "n = 3", "element": "out[0]", "got": "nan", "expected": "2.4"}
ACCESS = {
    "thread": Thread.OF_BLOCK(thread="1,0,0", block="0,0,0"),
    "does": Does.READS(),
    "bytes": Place.BYTES(count=4),
    "place": Place.NAMED_ARGUMENT(number=1, name="x"),
}


@pytest.mark.parametrize("text, chinese", [
    (Shown.RIGHT(), "正确且无问题"),
    (Shown.NEXT(advice="Use floats only."), "下一步：只用 float。"),
    (Shown.REASON(kind=Kind.COUNTERS, text=Refusal.COUNT(what=words.counter("lds.conflicts"),
                                                         value=4480, best=0)),
     "计数：加载的存储体冲突 4,480，我们的 0"),
    (Refusal.COUNT_AT_MOST(what=words.counter("ld.requests"), value=9, best=4, most=5),
     "加载请求 9，我们的 4，至多 5"),
    (Refusal.ELEMENTS(**LAUNCH, count=2, size=3),
     "n = 3：out[0]：得到 nan，应为 2.4；3 个元素中有 2 个错了"),
    (Refusal.ELEMENT_WITHIN(**LAUNCH, within=0.1),
     "n = 3：out[0]：得到 nan，应为 2.4，误差 0.1 以内"),
    (Refusal.SEVERAL(launch="n = 3", name="out", count=2, size=3),
     "n = 3：out 的 3 个元素中有 2 个错了"),
    (Refusal.FOUND(launch="n = 1", finding=FindingKind.RACE), "n = 1：数据竞争"),
    (joined(Happened.AT(**ACCESS), "   5 | out[i] = 2 * x[i];", between="\n"),
     "块 (0,0,0) 的线程 (1,0,0) 读 参数 1（x） 处的 4 字节\n   5 | out[i] = 2 * x[i];"),
    (Said("thread (3,0,0) traps", FaultKind.TRAP, {"what": "thread (3,0,0) traps"}),
     "执行了陷阱指令 trap（thread (3,0,0) traps）"),
    (Next.TERMS(depth=9, how=Part.LEFT_OUT(), which=Part.TERM(first=8)),
     "每个和有 9 项。漏掉了：第 8 项。那是循环的哪一轮？"),
    ("what nobody has translated: {odd}, (9)", "what nobody has translated: {odd}, (9)"),
])  # fmt: skip
def test_what_a_verdict_says(text, chinese, monkeypatch):
    assert in_chinese(text, monkeypatch) == chinese
    monkeypatch.setenv("COURSE_LANGUAGE", "xx")
    assert language.told(text) == text
    monkeypatch.delenv("COURSE_LANGUAGE")
    assert language.told(text) == text


def test_a_verdict_is_in_the_language_of_the_lab_and_its_reasons_stay_english(monkeypatch):
    text = exercises.solution("00.double").replace("2 *", "3 *")
    verdict = judging.trial(texts.find("00.double"), text, seed=7)
    assert Shown.NOT_YET.value in str(verdict)
    monkeypatch.setenv("COURSE_LANGUAGE", "zh")
    for said in str(verdict), verdict._repr_html_():
        assert (
            "还不行" in said and "应为" in said and "expected" not in said.partition("element")[0]
        )
    assert verdict.reasons[0].text.isascii()  # which grade writes down


# --- predictions ----------------------------------------------------------------------------------

TOLD = [name for name in predictions.names() if f"{name.partition('.')[0]}_" in " ".join(NOTEBOOKS)]
LATIN = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")


def test_every_phrase_about_predictions_is_said_somewhere():
    """One that is not any more, because its original has changed, is to be made anew."""
    table = json.loads((ROOT / "publish/translations/zh/predictions.json").read_text())
    said = set()
    for name in TOLD:
        known = predictions.find(name)
        said |= {known["what"], known["because"], *(m["thought"] for m in known["mistakes"])}
    assert len(TOLD) > 20 and {*table} <= said


def test_what_predictions_lack_in_chinese_is_told(monkeypatch, tmp_path):
    assert [*translate.untold(PAGES)] == []
    for name in TABLES:
        (tmp_path / f"{name}.json").write_text("{}")
    monkeypatch.setattr(translate, "CATALOGUES", tmp_path)
    assert {page for page, _, _ in translate.untold(PAGES)} == {*NOTEBOOKS}


@pytest.mark.parametrize("name", TOLD)
def test_a_prediction_is_explained_in_the_language_of_the_lab(name, monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "zh")
    known = predictions.find(name)
    wrong = known["mistakes"][0]
    for answer in None, known["right"], predictions.SHOW, wrong["answer"]:
        shown = repr(predictions.predict(name, answer, known["right"]))
        assert re.search("[\u4e00-\u9fff]", shown)
        assert not LATIN.search(shown), shown
    assert wrong["thought"] not in shown and "你预测的是" in shown and "不对。" in shown


@pytest.mark.parametrize("answer, distance", [
    (12, "，高了 33%"), (3, "，只有实际的 3 分之一"), (90, "，是实际的 10 倍"), (0, "，相差 9"),
])  # fmt: skip
def test_how_far_off_an_answer_is(answer, distance, monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "zh")
    shown = repr(predictions.predict("03.barriers", answer, 9))
    assert f"你预测的是 {answer}{distance}。" in shown
