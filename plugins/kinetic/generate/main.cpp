// Writes the kernels of phase-space configurations: kinetic_generate FOLDER 1x1v_p2 1x1v_p2_tensor ...
// For each name a header with the kernels and a source that instantiates the solver with them.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "kernels.hpp"
#include "legendre.hpp"

namespace kinetic_generate {
namespace {

bool parse(const std::string& name, int& c, int& v, int& p, bool& tensor) {
  char rest[16] = "";
  const int found = std::sscanf(name.c_str(), "%dx%dv_p%d%15s", &c, &v, &p, rest);
  tensor = std::string(rest) == "_tensor";
  return found >= 3 && (tensor || !*rest) && c >= 1 && c <= 3 && v >= c && v <= 3 && p >= 1 && p <= 2;
}

template <class Number>
std::string list(const std::vector<Number>& values) {
  std::string out;
  for (Number v : values) out += (out.empty() ? "" : ", ") + std::to_string(v);
  return "{" + out + "}";
}

std::string table(const std::vector<std::vector<int>>& rows) {
  std::string out;
  for (const auto& row : rows) out += (out.empty() ? "" : ", ") + list(row);
  return "{" + out + "}";
}

/// Values of the conf modes at the Gauss-Lobatto nodes of a cell, where the largest acceleration is looked for.
std::string node_table(const Basis& b, int& nodes) {
  const std::vector<double> line = b.order == 1 ? std::vector<double>{-1, 1} : std::vector<double>{-1, 0, 1};
  nodes = 1;
  for (int d = 0; d < b.cdim; ++d) nodes *= static_cast<int>(line.size());
  std::string out;
  for (int q = 0; q < nodes; ++q) {
    std::string row;
    for (const auto& e : b.conf) {
      double value = 1.0;
      for (int d = 0, rest = q; d < b.cdim; ++d, rest /= static_cast<int>(line.size()))
        value *= legendre(e[d], line[rest % line.size()]);
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", value);
      row += (row.empty() ? "" : ", ") + std::string(text);
    }
    out += (out.empty() ? "{" : ", {") + row + "}";
  }
  return "{" + out + "}";
}

struct Cost {
  int multiplications = 0, additions = 0, nonzeros = 0, streaming = 0;
  void add(const Kernel& k, int times = 1, bool streams = false) {
    multiplications += times * k.code.multiplications;
    additions += times * k.code.additions;
    nonzeros += times * k.code.nonzeros;
    if (streams) streaming += times * k.code.multiplications;
  }
};

/// Everything that one cell needs per right-hand side: volume, streaming, each velocity face once.
Cost cost_of(const Writer& w, const Basis& b) {
  Cost cost;
  for (int d = 0; d < b.cdim; ++d) {
    cost.add(w.trace(d), 1, true);  // of the upwind neighbour
    cost.add(w.stream(d), 1, true);
  }
  for (int d = 0; d < b.vdim; ++d) cost.add(w.push(d));
  return cost;
}

std::vector<Kernel> all_kernels(const Writer& w, const Basis& b) {
  std::vector<Kernel> out{w.matrix(), w.moments()};
  for (int d = 0; d < b.cdim + b.vdim; ++d) out.push_back(w.trace(d));
  for (int d = 0; d < b.cdim; ++d) {
    out.push_back(w.stream(d));
    out.push_back(w.inflow(d));
  }
  for (int d = 0; d < b.vdim; ++d) {
    out.push_back(w.push(d));
    out.push_back(w.flux(d));
    out.push_back(w.lift(d));
  }
  return out;
}

std::string constants(const Basis& b, const Writer& w) {
  std::ostringstream out;
  int nodes = 0;
  const std::string node_values = node_table(b, nodes);
  std::vector<int> faces;
  std::size_t widest = 0;
  std::vector<std::vector<int>> exponents, conf(b.conf.begin(), b.conf.end()), face_modes;
  for (int d = 0; d < b.cdim + b.vdim; ++d) faces.push_back(static_cast<int>(b.face(d).size()));
  for (int n : faces) widest = std::max(widest, static_cast<std::size_t>(n));
  for (int k = 0; k < b.modes(); ++k) exponents.push_back(b.exponents(k));
  for (int d = 0; d < b.cdim + b.vdim; ++d) {
    face_modes.push_back(b.face(d));
    face_modes.back().resize(widest, -1);
  }
  const Cost cost = cost_of(w, b);
  out << "  static constexpr const char* name = \"" << b.name() << "\";\n"
      << "  static constexpr int cdim = " << b.cdim << ", vdim = " << b.vdim << ", order = " << b.order
      << ", velocity_order = " << b.highest(b.cdim) << ";\n"
      << "  static constexpr bool tensor = " << (b.tensor ? "true" : "false") << ";\n"
      << "  static constexpr int modes = " << b.modes() << ", conf = " << b.conf.size() << ", sym = " << w.matrix_size()
      << ", pairs = " << w.pairs().size() << ", nodes = " << nodes << ", widest_face = " << widest << ";\n"
      << "  KINETIC_ROW(int, face, " << list(faces) << ")\n"
      << "  KINETIC_TABLE(int, exponents, cdim + vdim, " << table(exponents) << ")\n"
      << "  KINETIC_TABLE(int, conf_exponents, cdim, " << table(conf) << ")\n"
      << "  KINETIC_TABLE(int, face_modes, widest_face, " << table(face_modes) << ")\n"
      << "  KINETIC_TABLE(double, node_values, conf, " << node_values << ")\n"
      << "  static constexpr int multiplications = " << cost.multiplications << ", additions = " << cost.additions
      << ", nonzeros = " << cost.nonzeros << ", streaming_multiplications = " << cost.streaming << ";\n";
  return out.str();
}

/// A function template that picks one of name0, name1, ... by its argument D; `extra` is a further template argument.
std::string chooser(const std::string& name, int first, int count, const std::string& extra,
                    const std::string& parameters, const std::string& arguments) {
  std::string out = "  template <int D" + (extra.empty() ? "" : ", bool " + extra) + ">\n  CAMBIUM_FN static void " +
                    name + "(" + parameters + ") {\n";
  for (int d = first; d < count; ++d)
    out += std::string("    ") + (d > first ? "else " : "") + "if constexpr (D == " + std::to_string(d) + ") " + name +
           std::to_string(d) + (extra.empty() ? "" : "<" + extra + ">") + "(" + arguments + ");\n";
  return out + "  }\n";
}

std::string choosers(const Basis& b) {
  return chooser("trace", 0, b.cdim + b.vdim, "", "const T* f, S s, T* t", "f, s, t") +
         chooser("stream", 1, b.cdim, "",
                 "[[maybe_unused]] const T* f, [[maybe_unused]] const T* t, [[maybe_unused]] S w, [[maybe_unused]] S "
                 "h, [[maybe_unused]] S s, [[maybe_unused]] T* out",
                 "f, t, w, h, s, out") +
         chooser("inflow", 0, b.cdim, "", "const T* t, S w, S h, S s, T* out", "t, w, h, s, out") +
         chooser("push", 0, b.vdim, "M",
                 "const T* f, const T* g, const T* E, const T* B, const T* X, const S* W, T lambda, T* below, T* out",
                 "f, g, E, B, X, W, lambda, below, out") +
         chooser("flux", 0, b.vdim, "M",
                 "const T* tl, const T* tu, const T* E, const T* B, const T* X, const S* W, T lambda, T* G",
                 "tl, tu, E, B, X, W, lambda, G") +
         chooser("lift", 0, b.vdim, "", "const T* Gl, const T* Gu, T* out", "Gl, Gu, out");
}

void write_header(const std::string& folder, const Basis& b) {
  const Writer w(b);
  std::ofstream out(folder + "/" + b.name() + ".hpp");
  out << "// Written by kinetic_generate; the source is plugins/kinetic/generate.\n#pragma once\n"
      << "#include \"plugins/kinetic/solver/kernel_macros.hpp\"\n\nnamespace cambium::kinetic {\n\n"
      << "struct Basis_" << b.name() << " {\n"
      << constants(b, w) << "};\n\n"
      << "template <class T>\nstruct Kernels_" << b.name() << " : Basis_" << b.name()
      << " {\n  using S = typename T::value_type;\n";
  for (const auto& k : all_kernels(w, b)) {
    std::string text = k.code.text();
    // With few modes every kernel is worth inlining.
    if (const auto at = text.find("KINETIC_LARGE"); at != std::string::npos && b.modes() <= 9)
      text.replace(at, 13, "KINETIC_SMALL");
    out << text << "\n";
  }
  out << choosers(b) << "};\n\n}  // namespace cambium::kinetic\n";
}

/// Both precisions in one source: the compiler reads the headers once.
void write_source(const std::string& folder, const Basis& b) {
  std::ofstream out(folder + "/" + b.name() + ".cpp");
  out << "// Written by kinetic_generate.\n#include \"" << b.name() << ".hpp\"\n"
      << "#include \"plugins/kinetic/solver/solver_impl.hpp\"\n\nnamespace cambium::kinetic {\n\n";
  for (const char* type : {"double", "float"})
    out << "std::unique_ptr<Solver> make_" << b.name() << "_" << type << "(const PhaseGrid& grid, const Comm& comm) {\n"
        << "  return std::make_unique<SolverOf<Kernels_" << b.name() << ", " << type << ">>(grid, comm);\n}\n\n";
  out << "}  // namespace cambium::kinetic\n";
}

void write_table(const std::string& folder, const std::vector<Basis>& all) {
  std::ofstream out(folder + "/built.cpp");
  out << "// Written by kinetic_generate.\n#include \"plugins/kinetic/solver/built.hpp\"\n";
  for (const auto& b : all) out << "#include \"" << b.name() << ".hpp\"\n";
  out << "\nnamespace cambium::kinetic {\n\n";
  for (const auto& b : all)
    for (const char* type : {"double", "float"})
      out << "std::unique_ptr<Solver> make_" << b.name() << "_" << type << "(const PhaseGrid&, const Comm&);\n";
  out << "\nconst std::vector<Built>& built() {\n  static const std::vector<Built> all = {\n";
  for (const auto& b : all)
    out << "      describe<Basis_" << b.name() << ">(make_" << b.name() << "_double, make_" << b.name() << "_float),\n";
  out << "  };\n  return all;\n}\n\n}  // namespace cambium::kinetic\n";
}

}  // namespace
}  // namespace kinetic_generate

int main(int argc, char** argv) {
  using namespace kinetic_generate;
  if (argc < 3) {
    std::cerr << "use: kinetic_generate FOLDER CONFIGURATION...\n";
    return 2;
  }
  std::vector<Basis> all;
  for (int k = 2; k < argc; ++k) {
    int c = 0, v = 0, p = 0;
    bool tensor = false;
    if (!parse(argv[k], c, v, p, tensor)) {
      std::cerr << "'" << argv[k]
                << "' is no configuration; write CxVv_pP or CxVv_pP_tensor with 1 <= C <= V <= 3 and P 1 or 2, "
                << "for example 2x3v_p2\n";
      return 2;
    }
    all.emplace_back(c, v, p, tensor);
    write_header(argv[1], all.back());
    write_source(argv[1], all.back());
    const Cost cost = cost_of(Writer(all.back()), all.back());
    std::printf("%-16s %4d modes %7d non-zeros %6d mul + %6d add, of which streaming %5d mul\n", argv[k],
                all.back().modes(), cost.nonzeros, cost.multiplications, cost.additions, cost.streaming);
  }
  write_table(argv[1], all);
}
