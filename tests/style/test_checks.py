#!/usr/bin/env python3
"""The style checks find what they are there for: each is shown a small tree with one fault."""

import os
import tempfile
import unittest

import layers
import packages
import sizes
import tree


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = self.folder.name

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def test_layers(self):
        self.write("core/base/good.cpp", '#include "core/base/log.hpp"\n#include <vector>\n')
        self.write("core/plugin/good.cpp", '#include "core/particles/box.hpp"\n')
        self.write("plugins/one/good.cpp", '#include "core/plugin/potential.hpp"\n#include "plugins/one/own.hpp"\n')
        self.assertEqual(layers.check_sources(self.root), [])
        self.write("core/base/bad.cpp", '#include "core/particles/box.hpp"\n')
        self.write("core/io/bad.cpp", '#include "plugins/one/own.hpp"\n')
        self.write("plugins/one/bad.cpp", '#include "plugins/two/own.hpp"\n#include <Kokkos_Core.hpp>\n')
        self.write("core/other/bad.cpp", "\n")
        problems = layers.check_sources(self.root)
        self.assertEqual(len(problems), 5, problems)

    def test_function_lengths(self):
        body = "  int k = 0;\n" * 70
        long_function = "int Box::far(int a,\n  int b) const {\n" + body + "}\n"
        self.write("core/base/a.hpp", "namespace n {\nclass A {\n" + "int x;\n" * 70 + "};\n" + long_function + "}\n")
        self.write("core/base/b.cpp", "constexpr int t[] = {\n" + "1,\n" * 70 + "};\n// {\nauto s = \"{\";\nint f() { return 1; }\n")
        self.assertEqual(list(sizes.too_long(self.root)), ["core/base/a.hpp:Box::far"])
        self.assertEqual(sizes.cpp_functions(long_function), [("Box::far", 1, 73)])

    def test_file_length(self):
        self.write("core/base/a.cpp", "\n" * 401)
        self.assertEqual(list(sizes.too_long(self.root)), ["core/base/a.cpp"])

    def test_tree(self):
        self.write("plugins/one/README.md", "fine\n")
        self.write("plugins/one/register.cpp", "fine\n")
        self.assertEqual(tree.check_plugins(self.root) + tree.check_text(self.root), [])
        self.write("plugins/two/a.hpp", "using namespace std;\n")
        self.write("docs/a.md", "see /" + "home/somebody/file\n")
        problems = tree.check_plugins(self.root) + tree.check_text(self.root)
        self.assertEqual(len(problems), 5, problems)

    def test_packages(self):
        self.assertEqual(packages.faults("cat <<'LIST'\ng++\nliba-dev|libb-dev\nLIST\n"), [])
        self.assertEqual(len(packages.faults("cat <<'LIST'\npython3-yaml python3-h5py\nLIST\n")), 1)
        self.assertEqual(len(packages.faults("echo g++\n")), 1)


if __name__ == "__main__":
    unittest.main()
