#!/usr/bin/env python3
"""The style checks find what they are there for: each is shown a small tree with one fault."""

import json
import os
import tempfile
import unittest

import folders
import format
import headers
import joined
import layers
import packages
import sizes
import streams
import tenants
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

    def test_objects(self):
        kokkos, torch = "    /usr/include/Kokkos_Core.hpp\n", "    /usr/include/torch/nn.h\n"
        once = ["c++ -include /b/CMakeFiles/cambium_torch_headers.dir/cmake_pch.hxx -o c.o -c c.cpp"]
        fine = f"a.o: #deps 1\n{kokkos}\nb.o: #deps 1\n{torch}\nc.o: #deps 1\n{torch}"
        self.assertEqual(list(layers.both_seen(fine, once)), [])
        self.assertEqual(len(list(layers.both_seen(f"a.o: #deps 2\n{kokkos}{torch}\nc.o: #deps 1\n{kokkos}", once))), 2)

    def test_function_lengths(self):
        body = "  int k = 0;\n" * 70
        long_function = "int Box::far(int a,\n  int b) const {\n" + body + "}\n"
        self.write("core/base/a.hpp", "namespace n {\nclass A {\n" + "int x;\n" * 70 + "};\n" + long_function + "}\n")
        self.write("core/base/b.cpp", "constexpr int t[] = {\n" + "1,\n" * 70 + "};\n// {\nauto s = \"{\";\nint f() { return 1; }\n")
        self.assertEqual(list(sizes.too_long(self.root)), ["core/base/a.hpp:Box::far"])
        self.assertEqual(sizes.cpp_functions(long_function), [("Box::far", 1, 73)])

    def test_file_length(self):
        self.write("core/base/a.cpp", "\n" * 501)
        self.assertEqual(list(sizes.too_long(self.root)), ["core/base/a.cpp"])

    def test_tree(self):
        self.write("plugins/one/README.md", "fine\n")
        self.write("plugins/one/register.cpp", "fine\n")
        self.assertEqual(tree.check_plugins(self.root) + tree.check_text(self.root), [])
        self.write("plugins/two/a.hpp", "using namespace std;\n")
        self.write("docs/a.md", "see /" + "home/somebody/file\n")
        problems = tree.check_plugins(self.root) + tree.check_text(self.root)
        self.assertEqual(len(problems), 5, problems)

    def test_files_of_a_run(self):
        self.write("core/a.cpp", "fine\n")
        self.write("doctor-7c/room", "")
        self.write("inputs/large.h5", "x" * (tree.LARGEST + 1))
        self.assertEqual(tree.check_left_there(self.root, ["core/a.cpp", ".gitignore"]), [])
        self.assertEqual(len(tree.check_left_there(self.root, ["core/a.cpp", "doctor-7c/room", "inputs/large.h5"])), 2)

    def test_pi(self):
        self.write("core/base/constants.hpp", "constexpr double pi = 3.14159265358979323846;\n")
        self.write("core/base/a.cpp", "double x = constants::pi;\n")
        self.assertEqual(tree.check_pi(self.root), [])
        for k, pi in enumerate(("M_PI", "3.1415926", "std::numbers::pi")):
            self.write(f"plugins/one/b{k}.cpp", f"double x = {pi};\n")
        self.assertEqual(len(tree.check_pi(self.root)), 3)

    def test_options_of_single_sources(self):
        self.write("core/a/CMakeLists.txt", "cambium_uncontracted(cambium_core a.cpp)\ntarget_compile_options(t PRIVATE -O1)\n")
        self.assertEqual(tree.check_options(self.root), [])
        self.write("core/b/CMakeLists.txt", "set_source_files_properties(b.cpp PROPERTIES\n  COMPILE_OPTIONS -O1)\n")
        self.assertEqual(len(tree.check_options(self.root)), 1)

    def test_folder_cycles(self):
        self.write("core/base/a.hpp", '#include "core/deck/b.hpp"\n')
        self.write("core/deck/b.hpp", "#pragma once\n")
        self.assertEqual(folders.cycles(folders.graph(self.root)), [])
        self.write("core/deck/c.hpp", '#include "core/io/d.hpp"\n')
        self.write("core/io/d.hpp", '#include "core/base/a.hpp"\n')
        problems = folders.cycles(folders.graph(self.root))
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("core/base -> core/deck -> core/io -> core/base", problems[0])

    def test_cycles_of_rooms(self):
        self.write("core/io/run/a.hpp", '#include "core/deck/b.hpp"\n')
        self.write("core/deck/b.hpp", "#pragma once\n")
        self.write("core/deck/forms/c.hpp", '#include "core/io/cf/d.hpp"\n')
        self.write("core/io/cf/d.hpp", "#pragma once\n")
        self.assertEqual(folders.cycles(folders.graph(self.root)), [])  # no four folders do, two rooms do
        self.assertEqual(len(folders.cycles_at_any_depth(self.root)), 1)

    def test_streams(self):
        self.write("core/parallel/random.hpp", "enum class Stream : std::uint32_t {\n  shuffle = 7,\n  external = 1000\n};\n")
        self.write("plugins/one/a.hpp", 'constexpr auto a = static_cast<Stream>(60), b = stream("one.b");  // static_cast<Stream>(7)\n')
        self.assertEqual(streams.check(self.root), [])
        self.write("plugins/two/a.hpp", 'constexpr auto a = static_cast<Stream>(60), c = static_cast<Stream>(7), b = stream("one.b");\n')
        self.assertEqual(len(streams.check(self.root)), 3)

    def test_tenants(self):
        self.write("core/base/a.hpp", "#pragma once\n")
        self.write("core/base/a.cpp", '#include "core/codec/b.hpp"\n')
        self.write("core/codec/b.hpp", "#pragma once\n")
        for name in ("one", "two"):
            self.write(f"plugins/{name}/x.cpp", '#include "core/base/a.hpp"\n')
        self.assertEqual(tenants.check(self.root, {}), [])
        self.write("core/sparse/c.hpp", "#pragma once\n")
        self.write("plugins/one/y.cpp", '#include "core/sparse/c.hpp"\n')
        self.assertEqual([p.split(":")[0] for p in tenants.check(self.root, {})], ["core/sparse"])
        self.assertEqual(tenants.check(self.root, {"core/sparse": "why"}), [])
        self.assertEqual(len(tenants.check(self.root, {"core/sparse": "why", "core/base": "why"})), 1)

    def test_folder_readmes(self):
        for path in ("core", "core/base", "plugins"):
            self.write(f"{path}/README.md", "# What\nlies here\n\nand on what\n")
        self.write("core/base/a.hpp", "#pragma once\n")
        self.write("plugins/one/README.md", "# Manual\n" + "many lines\n" * 50)
        self.assertEqual(folders.check_readmes(self.root), [])
        self.write("core/base/README.md", "# Two\nlines\n")
        self.write("core/only/folders/README.md", "# Nine\n" + "lines\n" * 8)
        self.write("plugins/one/tasks/pod.hpp", "#pragma once\n")
        self.write("plugins/two/x.cpp", "\n")
        problems = folders.check_readmes(self.root)
        self.assertEqual([p.split(":")[0] for p in problems],
                         ["core/base/README.md", "core/only", "core/only/folders/README.md", "plugins/two"])

    def test_registered_types(self):
        self.write("plugins/one/register.cpp", '#include "plugins/one/tasks/pod.hpp"\nregistry.add<Pod>("pod", "modes");\n')
        self.assertEqual(folders.check_registered(self.root), [])
        self.write("plugins/two/register.cpp", '#include "plugins/two/series/a.hpp"\nregistry.add<A>(\n    "a", "modes");\n')
        self.assertEqual(len(folders.check_registered(self.root)), 1)
        self.write("plugins/two/series/a.cpp", 'registry\n    .add<B>("b", "more");\n')
        self.assertEqual(len(folders.check_registered(self.root)), 2)

    def test_keys_beside_members(self):
        apart = "struct P {\n  static void describe(deck::Describe<P>& d);\n};\n"
        self.write("plugins/one/potentials/a.hpp", apart.replace(";\n}", " { d(1); }\n}"))
        self.write("plugins/one/tasks/b.hpp", apart)
        self.assertEqual(folders.check_keys(self.root), [])
        self.write("core/train/optimizers/c.hpp", apart)
        self.assertEqual(len(folders.check_keys(self.root)), 1)

    def test_names_of_joined_files(self):
        self.write("core/base/a.cpp", "namespace cambium {\nnamespace {\nint half(int n) { return n / 2; }\n}\nstatic double twice(double x) { return 2 * x; }\n}\n")
        self.write("core/io/b.cpp", "namespace cambium {\nnamespace {\nint half(double x);\nconstexpr int most = 3;\nstruct Row {\n  int half(int n);\n};\n}\n}\n")
        self.write("plugins/one/c.cpp", "namespace cambium {\nnamespace {\nint half(int n) { return n / 2; }\n}\n}\n")
        self.assertEqual(joined.said_twice(self.root), [])
        self.write("core/io/d.cpp", "namespace cambium {\nnamespace {\nint half(int m) { return m >> 1; }\nstruct Row {};\nint most = 4;\n}\n"
                   "static double twice(double y) { return y + y; }\n}\n")
        said = joined.said_twice(self.root)
        self.assertEqual([text.split(" of ")[0] for text in said],
                         ["core/io/d.cpp:4: Row", "core/io/d.cpp:3: half(int)", "core/io/d.cpp:7: twice(double)"])

    def test_types_defined_twice(self):
        self.write("core/base/a.hpp", "namespace cambium {\nclass Row;\nstruct Table {\n  struct Row {\n    int n;\n  };\n};\nnamespace io {\nstruct Row {};\n}\n}\n")
        self.write("core/base/a.cpp", "namespace cambium {\nstruct Table::Part {};\nnamespace {\nstruct Row {};\n}\nvoid f() {\n  struct Row {};\n}\n}\n")
        self.write("core/io/b.hpp", "namespace cambium {\nclass Row final : public Base {\n};\n}\n")
        self.assertEqual(joined.defined_twice(self.root), [])
        self.write("plugins/one/c.hpp", "namespace cambium {\nstruct Row {};\n}\n")
        self.assertEqual(joined.defined_twice(self.root), ["plugins/one/c.hpp:2: cambium::Row is defined in core/io/b.hpp, too: rename one"])

    def test_format(self):
        if not format.program():
            self.skipTest(f"no clang-format {format.RELEASE}")
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("core/base/a.cpp", "int f() { return 1; }\n")
        self.write("core/base/b.cpp", "int  f( ) {return 1;}\n")
        self.assertEqual(format.unformatted(self.root, format.program(), ["core/base/a.cpp", "core/base/b.cpp"]), ["core/base/b.cpp"])

    def test_headers_alone(self):
        self.write("core/base/good.hpp", "#pragma once\n#include <vector>\ninline std::vector<int> f() { return {}; }\n")
        self.write("core/base/bad.hpp", "#pragma once\ninline std::vector<int> f() { return {}; }\n")
        self.write("apart/only_here.hpp", "#pragma once\n")
        self.write("core/base/needs_more.hpp", "#pragma once\n#include <only_here.hpp>\n")
        plain, more = ["c++", "-I", self.root], ["c++", "-I", self.root, "-I", os.path.join(self.root, "apart")]
        folders_of = {os.path.join(self.root, "core/base"): {"plain": (plain, self.root), "more": (more, self.root)}}
        self.assertIsNone(headers.fault(self.root, folders_of, "core/base/good.hpp"))
        self.assertIsNone(headers.fault(self.root, folders_of, "core/base/needs_more.hpp"))
        self.assertIn("does not compile alone", headers.fault(self.root, folders_of, "core/base/bad.hpp"))

    def test_flags_of_joined_files(self):
        build = os.path.join(self.root, "build")
        joined = os.path.join(build, "core/io/CMakeFiles/io.dir/Unity/unity_0_cxx.cxx")
        entry = {"file": joined, "directory": build, "command": f"c++ -I x -include read_once.hxx -o core/io/CMakeFiles/io.dir/Unity/unity_0_cxx.cxx.o -c {joined}"}
        self.write("build/compile_commands.json", json.dumps([entry]))
        self.assertEqual(headers.flags_by_folder(self.root, build),
                         {os.path.join(self.root, "core/io"): {"core/io/CMakeFiles/io": (["c++", "-I", "x"], build)}})

    def test_packages(self):
        self.assertEqual(packages.faults("cat <<'LIST'\ng++\nliba-dev|libb-dev\nLIST\n"), [])
        self.assertEqual(len(packages.faults("cat <<'LIST'\npython3-yaml python3-h5py\nLIST\n")), 1)
        self.assertEqual(len(packages.faults("echo g++\n")), 1)

    def test_lists_of_plugins(self):
        build, recipe = "cambium_choose_plugins(md graph)\n", 'variant("plugins", multi=True,\n values=("all", "md", "graph"))'
        self.assertEqual(packages.plugin_faults({"md", "graph"}, build, recipe), [])
        self.assertEqual(packages.plugin_faults({"md", "graph", "new"}, build, recipe),
                         ["plugins/CMakeLists.txt: no plugin 'new'", "Spack's recipe: no plugin 'new'"])
        self.assertEqual(packages.plugin_faults({"md"}, "cambium_choose_plugins(md)", recipe), ["Spack's recipe: there is no folder of the plugin 'graph'"])


if __name__ == "__main__":
    unittest.main()
