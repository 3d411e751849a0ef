"""What `cambium sweep` says about keys and values that make no table of runs; each points into the text of `--over`."""
# needs: kinetic
from table import Table

DECK = """
run: {name: landau, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5, a: 1e-4}
      domain: {lower: [0], upper: [2*pi/k], cells: [4]}
      species:
        - name: electron
          charge: -1
          velocity: {lower: [-6], upper: [6], cells: [8]}
          f0: (1 + a*cos(k*x)) * maxwellian(v)
      end_time: 0.1
"""
K = "stages[0].simulate.parameters.k"
END = "stages[0].simulate.end_time"
table = Table("sweep", DECK)


def says(message, *overs, words=(), code=2, deck="deck.yaml"):
    command = ["sweep", deck, "--dry-run", *words]
    for over in overs:
        command += ["--over", over]
    table.says(message, command=command, code=code)


def points(what, over, column, *others, words=()):
    """The message, the text and a caret under its letter `column`."""
    says(f"--over: {what}\n    {over}\n    {' ' * column}^", *others, over, words=words)


V = len(K) + 1  # where the values begin

# Values
points("expected key=values, for example run.seed=[1, 2, 3]", K, 0)
points("no values are given; write [a, b, c], range(first, last, count) or log(first, last, count)", K + "=", V)
points("found '0.3', expected values: [a, b, c], range(first, last, count) or log(first, last, count)", K + "=0.3", V)
points("there is no 'rang(...)' of values; did you mean 'range'?", K + "=rang(1, 2, 3)", V)
points("there is no 'linspace(...)' of values; known: range, log", K + "=linspace(1, 2, 3)", V)
points("the '(' of range is not closed", K + "=range(1, 2, 3", V + 5)
points("nothing may follow range(...), found '[1]'", K + "=range(1, 2, 3) [1]", V + 15)
points("range takes 3 numbers, first, last and count, for example range(1, 4, 7); found 2", K + "=range(1, 2)", V + 6)
points("found 'one', expected a number", K + "=range(one, 2, 3)", V + 6)
points("found '2.5', expected how many values: a whole number from 2 to 10000", K + "=range(1, 2, 2.5)", V + 12)
points("both ends need the same unit, found 'fs' and 'ps'", END + "=range(1 fs, 2 ps, 3)", len(END) + 1 + 12)
points("both ends are the same; write [value] for a single one", K + "=range(1, 1, 3)", V + 9)
points("the ends of log must not be 0 and need the same sign; range(first, last, count) takes even steps", K + "=log(0, 1, 3)", V + 4)
points("this list is not valid YAML; write [a, b, c]", K + "=[1, 2", V)
points("the list is empty; give at least one value", K + "=[]", V)
points("the value 0.30 is given twice", K + "=[0.3, 0.30]", V + 6)

# Keys
points("stages[0].simulate.end_tim: unknown key; did you mean 'end_time'?", "stages[0].simulate.end_tim=[1, 2]", 19)
points("end_time: unknown key; did you mean 'stages[0].simulate.end_time'?", "end_time=[1, 2]", 0)
points("stages[1].simulate.end_time: 'stages' has 1 items, counted from 0", "stages[1].simulate.end_time=[1, 2]", 0)
points("stages[0].simulate.domain.cells[0]: found 4.5, expected a whole number >= 1", "stages[0].simulate.domain.cells[0]=[4, 4.5]", 39)
points("stages[0].simulate.end_time: found -1, expected a number > 0", END + "=[1, -1]", len(END) + 5)
points(f"the key '{K}' is swept twice; give all its values at once", K + "=[0.4]", 0, K + "=[0.3]")
points(f"'{K}' is inside 'stages[0].simulate.parameters', which is swept, too", K + "=[0.4]", 0, "stages[0].simulate.parameters=[{k: 1, a: 1}]")
points("'run.directory' cannot be swept: it is the same for all runs of a sweep", "run.directory=[a, b]", 0)
points(f"with zip every key needs as many values: found 3, and 2 of {K}", "run.seed=[1, 2, 3]", 0, K + "=[0.3, 0.4]", words=["--zip"])
points("more than 100000 runs; sweep fewer keys or values", END + "=range(1, 2, 10000)", 0, K + "=range(1, 2, 10000)")
says("no key to sweep: `cambium sweep deck.yaml --over \"run.seed=[1, 2, 3]\"`, or `sweep: {over: {run.seed: [1, 2, 3]}}` in the deck")
says("--row 3: there are runs 1 to 2; `cambium sweep deck.yaml --dry-run` lists them", K + "=[0.3, 0.4]", words=["--row", "3"])

# In the deck
for name, sweep, message in (
    ("value", "{over: {run.seed: 3}}", "value.yaml:14:26: sweep.over: found '3', expected values: [a, b, c], range(first, last, count) or log(first, last, count)\n"
     "    run.seed=3\n             ^"),
    ("empty", "{over: {run.seed: []}}", "empty.yaml:14:26: sweep.over: the list is empty; give at least one value\n    run.seed=[]\n             ^"),
    ("key", "{over: {run.sed: [1, 2]}}", "run 1 (sed=1): key.yaml:14:26: run.sed: unknown key; did you mean 'seed'?"),
    ("own", "{over: {run.seed: [1]}, zips: true}", "own.yaml:14:32: sweep.zips: unknown key; did you mean 'zip'?"),
    ("short", "{over: {run.seed: [1, 2]}, theory: {temperature: [1, 2, 3]}}", "short.yaml:14:57: sweep.theory.temperature: found a list of 3, expected a "
     "number for each of the 2 values of run.seed"),
    ("words", "{over: {run.seed: [1, 2]}, theory: {temperature: [1, two]}}", "words.yaml:14:57: sweep.theory.temperature: found 'two', expected a number"),
    ("formula", "{over: {run.seed: [1, 2]}, theory: {temperature: 2*sed}}", "formula.yaml:14:57: sweep.theory.temperature: there is no variable 'sed'; did you "
     "mean 'seed'?\n    2*sed\n      ^"),
    ("word", "{over: {run.seed: range(1; 3)}}", "word.yaml:14:26: sweep.over: range takes 3 numbers, first, last and count, for example range(1, 4, 7); found 1\n"
     "    run.seed=range(1; 3)\n                   ^"),
):
    table.file(name + ".yaml", DECK.strip() + f"\nsweep: {sweep}\n")
    says(message, deck=name + ".yaml")
table.file("table.yaml", DECK + "sweep: {over: {run.seed: [1, 2]}}\n")
table.says("'table.yaml' is a table of runs (its key 'sweep'): `cambium sweep table.yaml` runs them all, `cambium run table.yaml sweep=null` the deck alone",
           deck="table.yaml", command="run")

# Folders
SWEEP = ["sweep", "deck.yaml", "--over", K + "=[0.4, 0.5]"]
table.begins(command=[*SWEEP, "run.directory=swept"])
table.says("'swept' holds another sweep: keys[0].values is [0.4, 0.5] there and [0.4, 0.6] here. Its runs do not belong to this table. What to do "
           "instead:\n  give deck and keys as they were (swept/sweep.yaml)   continues it\n"
           "  add run.directory=swept_2   leaves it unchanged and writes elsewhere",
           command=["sweep", "deck.yaml", "run.directory=swept", "--over", K + "=[0.4, 0.6]"])
table.says("'swept' holds another sweep: first_deck.stages[0].simulate.end_time is 0.1 there and 0.2 here. Its runs do not belong to this table. What to "
           "do instead:\n  give deck and keys as they were (swept/sweep.yaml)   continues it\n"
           "  add run.directory=swept_2   leaves it unchanged and writes elsewhere",
           command=[*SWEEP, "run.directory=swept", END + "=0.2"])
table.begins("run.directory=alone")
table.says("'alone' holds a run, and a sweep needs a folder of its own: add run.directory=alone_2", command=[*SWEEP, "run.directory=alone"])
table.file("occupied", "a file, no folder")
table.says("cannot make the folder 'occupied/s': Not a directory; choose another with run.directory=PATH",
           command=[*SWEEP, "run.directory=occupied/s"])
table.file("broken/sweep.yaml", "keys: 3\n")
table.says("'broken/sweep.yaml' is damaged; remove it and call the sweep again, which keeps finished runs",
           command=[*SWEEP, "run.directory=broken"])
table.says(("'swept' holds a sweep, which its own command continues: ", "sweep deck.yaml --over"), command=["restart", "swept"])
table.says("--ranks-per-run 3 is more than the 1 rank of this call; start it with mpirun -np 3",
           command=[*SWEEP, "run.directory=wide", "--ranks-per-run", "3"])
table.says("'nowhere' holds no run: there is no provenance.yaml; give the folder named run.directory in the deck",
           command=["report", "alone", "nowhere"])
table.run()
