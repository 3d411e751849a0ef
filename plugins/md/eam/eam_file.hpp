#pragma once
#include <string>
#include <vector>

namespace cambium::md {

/// File formats of embedded-atom tables.
enum class EamFormat { automatic, funcfl, setfl, finnis_sinclair };

/// Tables of the embedded-atom method as stored in their file: F(rho) on nrho points from 0 in steps of drho, functions
/// of the distance on nr points from 0 in steps of dr.
struct EamFile {
  struct Element {
    std::string symbol;  ///< from the header; for funcfl by the atomic number, empty if there is no such element
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
/// depends on both elements. `automatic`: Finnis-Sinclair if the name ends with .fs, otherwise setfl if the fourth line
/// has a number and a name, otherwise funcfl. The effective charges of a funcfl file are converted to r phi with
/// LAMMPS' constants, 27.2 eV and 0.529 Å, and as in LAMMPS the last point of each table is dropped. InputError names
/// file, line and error.
EamFile read_eam(const std::string& path, EamFormat format);

}  // namespace cambium::md
