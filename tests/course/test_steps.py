"""Steps of the course that the learner writes: the notebook goes on with theirs once it is done."""

import nbformat
import pytest

from helpers import exercises, sources
from helpers.exercises import texts
from softgpu.declarations import Declarations
from softgpu.tests.facts import refused
from tests import ROOT

pytestmark = pytest.mark.usefixtures("work")
NAME = "03.shared"
STEPS = [name for name in exercises.names() if texts.find(name).ours]


def commented(text):
    return f"// in my own words\n{text}"


@pytest.mark.parametrize("name", STEPS)
def test_the_stub_asks_for_the_kernel_of_the_course(name):
    stub, solution = (Declarations(t) for t in (exercises.stub(name), exercises.solution(name)))
    assert stub.kernels[-1] == solution.kernels[-1] == texts.find(name).kernel
    choices = [m[2] for m in sources.CHOICE.finditer(exercises.stub(name))]
    assert choices == [m[2] for m in sources.CHOICE.finditer(exercises.solution(name))]


@pytest.mark.parametrize("name", STEPS)
def test_the_notebook_goes_on_with_it(name):
    (path,) = ROOT.glob(f"notebooks/{name.partition('.')[0]}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    (at,) = [n for n, c in enumerate(cells) if f'exercises.use("{name}")' in c.source]
    assert cells[at - 2].source.startswith("%%kernel") and "exercises.judge" in cells[at - 1].source
    kernel = texts.find(name).kernel
    assert any(kernel in cell.source for cell in cells[at + 1 :] if cell.cell_type == "code")


def test_ours_is_used_until_yours_is_done(capsys):
    ours = exercises.use(NAME)
    assert ours.source == sources.text("reduce/shared.cu")
    assert capsys.readouterr().out == "03.shared: ours, reduce/shared.cu\n"
    assert not exercises.judge(NAME, exercises.stub(NAME).replace("op.initial()", "Acc(0)"))
    assert exercises.use(NAME).source == ours.source
    mine = commented(exercises.solution(NAME))
    assert exercises.judge(NAME, mine)
    capsys.readouterr()
    assert exercises.use(NAME).source == mine
    assert capsys.readouterr().out == "03.shared: yours\n"
    assert not exercises.judge(NAME, "__global__ void shared(int broken) {")
    assert exercises.use(NAME, Op="Max<Acc>").source == mine.replace("Sum<Acc>", "Max<Acc>")


def test_what_is_no_step_is_called_by_its_own_name():
    with refused(LookupError, "03.reversed"):
        exercises.use("03.reversed")
