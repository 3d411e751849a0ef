"""500 ways to write four symmetric matrices as Matrix Market files: market_spellings.py PROGRAM, that reads them (read_matrices.cpp).
Every optional part of the format is used, and every way in which programs depart from it that leaves no doubt. All must give the same
elements, bit for bit; SciPy, where it is there, judges those of them that it reads.
"""
import os
import random
import subprocess
import sys
import tempfile

SIZE = 6


def matrices(draw):
    """Elements of the lower triangle, by place: real numbers of twenty bits, whole numbers, positive ones, ones."""
    places = [(i, j) for i in range(SIZE) for j in range(i + 1) if i == j or draw.random() < 0.5]
    return {"real": {p: draw.randrange(-2**20, 2**20) / 2**draw.randrange(10, 40) or 0.5 for p in places},
            "integer": {p: float(draw.randrange(1, 1000)) * draw.choice((-1, 1)) for p in places},
            "unsigned": {p: float(draw.randrange(1, 1000)) for p in places},
            "pattern": {p: 1.0 for p in places}}


def number(value, draw, field, strict):
    """One of many spellings that mean this number exactly."""
    if strict:
        return ("%d" if field.endswith("integer") else draw.choice(("%.17g", "%.20e", "%.20E", "%.60f"))) % value
    if field.endswith("integer") and draw.random() < 0.8:
        return draw.choice(("%d", "%+d", "%05d")) % value
    digits, power = ("%.20e" % value).split("e")
    digits, power = digits.rstrip("0"), int(power)
    kind = draw.randrange(7)
    if kind == 0:
        return repr(value)
    if kind == 1:
        return "%.60f" % value
    if kind == 2 and power % 2 == 0:
        digits, power = digits.replace(".", ""), power - (len(digits) - digits.index(".") - 1)      # no point at all
    if kind == 3:
        sign, rest = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
        digits, power = sign + draw.choice(("0.", ".")) + rest.replace(".", ""), power + 1          # as Fortran begins
    letter = draw.choice("eEdDqQ")
    exponent = draw.choice(("%+03d", "%d", "%+d", "%+04d")) % power
    if kind == 4 and abs(power) < 1000:
        letter, exponent = "", "%+04d" % power                                                      # as Fortran writes three digits
    return ("+" if draw.random() < 0.1 and digits[0] != "-" else "") + digits + letter + exponent


def any_case(word, draw):
    return draw.choice((word, word.lower(), word.upper(), word.capitalize()))


def stored(matrix, draw, form, symmetry, strict):
    """(row, column, value) as the file has them."""
    if form == "array":
        both = symmetry == "general"
        return [(i, j, matrix.get((max(i, j), min(i, j)), 0.0)) for j in range(SIZE) for i in range(0 if both else j, SIZE)]
    out = [(i, j, v) for (i, j), v in matrix.items()]
    if symmetry == "general":
        out += [(j, i, v) for i, j, v in out if i != j]
    elif not strict and draw.random() < 0.3:
        out = [(j, i, v) for i, j, v in out]
    elif not strict and draw.random() < 0.3:
        out = [(j, i, v) if draw.random() < 0.5 else (i, j, v) for i, j, v in out]
    draw.shuffle(out)
    return out


def parts(elements, draw, field):
    """Elements as sums of two parts, and zeros that nobody needs."""
    out = []
    for i, j, v in elements:
        if draw.random() < 0.5:
            first = float(draw.randrange(0 if field.startswith("unsigned") else -9, 9)) if field.endswith("integer") else v * draw.choice((0.5, 0.25, 2.0))
            out += [(i, j, first), (i, j, v - first)]
        else:
            out.append((i, j, v))
    draw.shuffle(out)
    return out


def banner(draw, form, field, symmetry, strict):
    if strict:
        return " ".join(["%%MatrixMarket", "matrix", form, field, symmetry])
    words = [any_case(w, draw) for w in ("matrix", form, field, symmetry)]
    head = draw.choice(("%%MatrixMarket",) * 6 + ("%%matrixmarket", "%MatrixMarket", "%% MatrixMarket", "%%MATRIXMARKET", "%%%MatrixMarket"))
    before = draw.choice(("",) * 6 + ("\ufeff", "\n", "% a remark\n", " "))
    return before + draw.choice((" ", "  ", "\t")).join([head, *words]) + draw.choice(("", "", " ", "\t"))


def spelling(content, matrix, draw):
    """A file's text. Two of five keep strictly to the format's own rules, as SciPy takes them."""
    strict = draw.random() < 0.4
    form = "array" if content != "pattern" and draw.random() < 0.25 else "coordinate"
    field = {"real": draw.choice(("real", "complex") if strict else ("real", "real", "double", "complex")), "pattern": "pattern",
             "integer": draw.choice(("integer", "real")),
             "unsigned": draw.choice(("integer", "integer" if strict else "unsigned-integer", "real"))}[content]
    symmetry = draw.choice(("general", "symmetric", "hermitian" if field == "complex" or not strict else "symmetric"))
    elements = stored(matrix, draw, form, symmetry, strict)
    if form == "coordinate" and content != "pattern" and draw.random() < 0.3:
        elements = parts(elements, draw, field)
    noise = draw.random() < 0.5                                                # blank lines and remarks
    gap = draw.choice((" ", "  ", "\t", " \t "))
    lines = [banner(draw, form, field, symmetry, strict)]
    if noise:
        lines += draw.sample(["% made by nobody", "%", "% 3 3 3"] + ["", "   ", "%%% 6 6 6"] * (not strict), 3)
    lines.append((" " if strict else gap).join(str(n) for n in [SIZE, SIZE] + [len(elements)] * (form == "coordinate")))
    for i, j, v in elements:
        words = [str(i + 1), str(j + 1)] if form == "coordinate" else []
        if field != "pattern":
            words.append(number(v, draw, field, strict))
        if field == "complex":
            words.append(draw.choice(("0", "0.0", "-0.0", "0" if strict else "0D+00")))
        lines.append(draw.choice(("", "", "  ")) + gap.join(words) + draw.choice(("", "", " ")))
        if noise and not strict and draw.random() < 0.1:
            lines.append(draw.choice(("", "  ")))
    end = draw.choice(("\n", "\n", "\r\n"))
    return end.join(lines) + draw.choice((end, "", end + end))


def elements_of(line):
    words = line.split()
    return int(words[0]), {(int(i), int(j)): float.fromhex(v) for i, j, v in zip(words[1::3], words[2::3], words[3::3])}


def judged_by_scipy(path, want):
    """Does SciPy read the same? None where it does not read the file at all."""
    import scipy.io
    try:
        got = scipy.io.mmread(path)
    except Exception:
        return None
    got = got.toarray() if hasattr(got, "toarray") else got
    return all(got[i, j] == want.get((i, j), 0.0) for i in range(SIZE) for j in range(SIZE))


def main():
    draw = random.Random(48)
    contents = matrices(draw)
    wants = {name: {**m, **{(j, i): v for (i, j), v in m.items()}} for name, m in contents.items()}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k in range(500):
            content = draw.choice(("real", "real", "integer", "unsigned", "pattern"))
            path = os.path.join(folder, "%s%03d.mtx" % (content, k))
            with open(path, "w", newline="", encoding="utf-8") as file:
                file.write(spelling(content, contents[content], draw))
            files.append((path, wants[content]))
        said = subprocess.run([sys.argv[1]], input="\n".join(p for p, _ in files) + "\n", capture_output=True, text=True, check=True)
        wrong = []
        for (path, want), line in zip(files, said.stdout.splitlines(), strict=True):
            if line.startswith("refused"):
                wrong.append(line)
                continue
            rows, got = elements_of(line)
            if rows != SIZE or {p: v for p, v in got.items() if v} != want:
                wrong.append("%s: %s instead of %s" % (path, got, want))
        try:
            verdicts = [judged_by_scipy(path, want) for path, want in files]
            print("SciPy reads %d of %d files, %d of them alike" % (sum(v is not None for v in verdicts), len(files), sum(v is True for v in verdicts)))
            wrong += ["SciPy reads other elements: " + path for (path, _), v in zip(files, verdicts) if v is False]
        except ImportError:
            print("without SciPy")
        for text in wrong[:10]:
            print(text)
        print("%d of %d files wrong" % (len(wrong), len(files)))
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
