#pragma once
#include <string>
#include <vector>

namespace cambium::md {

/// How a table of the embedded-atom method is laid out.
enum class EamFormat { automatic, funcfl, setfl, finnis_sinclair };

/// Tables of the embedded-atom method as their file has them: F(rho) on nrho points from 0 in steps of drho, functions
/// of the distance on nr points from 0 in steps of dr.
struct EamFile {
  struct Element {
    std::string symbol;  ///< of the header; by the atomic number in funcfl files, empty for a number that is none
    double mass = 0.0;   ///< g/mol
    std::vector<double> embedding;             ///< eV, nrho values
    std::vector<std::vector<double>> density;  ///< nr values: one function, or one for each element at the other site
  };
  EamFormat format = EamFormat::setfl;
  int nrho = 0, nr = 0;
  double drho = 0.0, dr = 0.0;            ///< dr in Å
  double cutoff = 0.0;                    ///< Å
  std::vector<Element> elements;          ///< in the order of the file
  std::vector<std::vector<double>> pair;  ///< r phi(r), eV Å: (0,0), (1,0), (1,1), (2,0), ...; nr values each

  /// r phi(r) of two elements, in any order.
  const std::vector<double>& pair_of(int a, int b) const {
    return a < b ? pair[b * (b + 1) / 2 + a] : pair[a * (a + 1) / 2 + b];
  }
};

/// Reads DYNAMO's funcfl (one element) and setfl (several) and the Finnis-Sinclair form of setfl, in which a density
/// depends on both elements. `automatic`: Finnis-Sinclair where the name ends with .fs, else setfl where the fourth
/// line has a number and a name, else funcfl. The effective charges of a funcfl file become r phi with LAMMPS'
/// constants, 27.2 eV and 0.529 Å, and as there its last point of each table is left out. InputError names file, line
/// and what is wrong.
EamFile read_eam(const std::string& path, EamFormat format);

}  // namespace cambium::md
