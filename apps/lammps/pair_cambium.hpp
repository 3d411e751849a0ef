#pragma once
#include <memory>
#include <string>
#include <vector>

#include "apps/lammps/potential_bridge.hpp"
#include "pair.h"

namespace LAMMPS_NS {

/// `pair_style cambium [TYPE] [deviation FILE EVERY]`, `pair_coeff * * MODEL [MODEL...] SPECIES...`: see
/// docs/using/lammps.md.
class PairCambium : public Pair {
 public:
  explicit PairCambium(LAMMPS* lmp);
  ~PairCambium() override;

  void settings(int count, char** words) override;
  void coeff(int count, char** words) override;
  void init_style() override;
  double init_one(int i, int j) override;
  void compute(int eflag, int vflag) override;

  int pack_forward_comm(int n, int* rows, double* buffer, int, int*) override;
  void unpack_forward_comm(int n, int first, double* buffer) override;
  int pack_reverse_comm(int n, int first, double* buffer) override;
  void unpack_reverse_comm(int n, int* rows, double* buffer) override;

 private:
  void allocate();
  [[noreturn]] void refuse(const std::string& text);
  void bind();
  void refuse_weakened_bonds();
  bool leaves_out_types() const;
  bool left_out(int i, int j) const;
  bool rows_changed();
  std::string keys_of(const std::vector<std::string>& words) const;
  void write_deviation();
  bool deviation_due() const;
  void tally(const cambium::lammps::HostResults& results);
  /// Runs `work`; its exceptions become LAMMPS' own errors.
  template <class Work>
  void guarded(Work&& work);

  std::string type_ = "deep_potential";
  std::string deviation_file_;  ///< empty: none
  int deviation_every_ = 0;
  bool deviation_begun_ = false;
  std::vector<std::string> symbols_;  ///< by LAMMPS type - 1; empty for NULL
  std::vector<char> covers_;          ///< [type][type], ours: other styles of a hybrid may have taken over a pair
  std::vector<int> types_;            ///< of the rows in the last call
  std::unique_ptr<cambium::lammps::PotentialBridge> bridge_;
  double* exchanged_ = nullptr;  ///< the array being sent, `width_` values per row
  int width_ = 1;
};

}  // namespace LAMMPS_NS
