#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/particles/particles.hpp"
#include "plugins/submatrix/dftb/repulsion.hpp"
#include "plugins/submatrix/dftb/slater_koster.hpp"

namespace cambium::submatrix {

/// Location of the Slater-Koster files of a set: DIRECTORY/A-B.skf.
struct SlaterKosterFiles {
  std::string directory;
  std::string separator = "-", suffix = ".skf";
  static void describe(deck::Describe<SlaterKosterFiles>& d);
  std::string path(const std::string& a, const std::string& b) const;
};

enum class RepulsionChoice { automatic, spline, polynomial, none };

/// A parameter set for the species of a structure. Hartree and bohr.
class DftbParameters {
 public:
  struct Element {
    std::string symbol;
    int highest = 0;  ///< angular momentum of the highest shell: 0 s, 1 p, 2 d
    std::array<double, most_shells> onsite{}, electrons{};
    double hubbard = 0.0;         ///< of the s shell, for all shells
    std::optional<int> left_out;  ///< highest shell with integrals, if it is above a highest shell taken by default
    int functions() const { return functions_of(highest); }
    double valence() const;  ///< electrons of the neutral atom in these shells
  };

  /// Reads the files of all pairs. `shells`: species to s, p or d; default: the highest shell that the neutral atom
  /// occupies. InputError for a file that is not there or cannot be used, KeyError about `slater_koster.directory`,
  /// `shells` or `repulsion`.
  DftbParameters(const SlaterKosterFiles& files, const std::map<std::string, std::string>& shells,
                 RepulsionChoice repulsion, std::span<const Species> species);

  const std::vector<Element>& elements() const { return element_; }
  const RadialTable& table(int a, int b) const { return table_[pair(a, b)]; }
  const Repulsion& repulsion(int a, int b) const { return repulsion_[pair(a, b)]; }
  double cutoff() const { return cutoff_; }  ///< longest of H, S and the repulsion, bohr
  /// Blocks of an atom of element a and one of element b at `d` from it; `first`: whether the file a-b rather than b-a
  /// gives the integrals of equal shells.
  void blocks(int a, int b, bool first, const double d[3], bool gradient, PairBlocks& out) const;

 private:
  std::size_t pair(int a, int b) const {
    return static_cast<std::size_t>(a) * element_.size() + static_cast<std::size_t>(b);
  }
  std::vector<Element> element_;
  std::vector<RadialTable> table_;
  std::vector<Repulsion> repulsion_;
  double cutoff_ = 0.0;
};

}  // namespace cambium::submatrix
