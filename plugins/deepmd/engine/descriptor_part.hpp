#pragma once
#include <memory>

#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/model/dense_layer.hpp"
#include "plugins/deepmd/model/pair_list.hpp"

namespace cambium::deepmd {

/// Atoms of one type that an engine processes together.
struct Chunk {
  const EngineInput& input;
  View<int*> rows;  ///< particle rows of the atoms, which begin at `first`
  int first = 0, atoms = 0, type = 0;
  double close_limit = 0.0;  ///< Å, see EngineOptions
};

/// One descriptor of a model: its rows for a chunk of atoms, and the forces from the energy's gradient with respect to
/// these rows.
template <class T>
class DescriptorPart {
 public:
  virtual ~DescriptorPart() = default;

  virtual int columns() const = 0;                       ///< of the rows written by forward()
  virtual int file_columns() const = 0;                  ///< in the layout of model files and their energy networks
  virtual int largest_chunk() const { return 1 << 30; }  ///< atoms for which work arrays stay reasonably small
  /// Maps rows (`width` values each) of an energy network's first matrix from the file's column order to ours.
  virtual void fold(const double* file, std::size_t width, double* ours) const = 0;
  /// Converts a chunk's rows to the file's order, and the adjoint from the file's order to ours.
  virtual void expand(int atoms, const Matrix<T>& d, const Matrix<T>& file) const = 0;
  virtual void fold_adjoint(int atoms, const Matrix<T>& file, const Matrix<T>& dd) const = 0;

  /// Writes columns() values into each row of `d`; neighbours are stored for backward().
  virtual void forward(const Chunk& chunk, const Matrix<T>& d, EngineOutput& output) = 0;
  /// Adds forces and virials from dE/dD.
  virtual void backward(const Chunk& chunk, const Matrix<T>& dd, EngineOutput& output) = 0;
  virtual const TableReport* table() const = 0;  ///< null without compression
  virtual std::size_t bytes() const = 0;
};

/// Parts for se_e2_a, se_e2_r and se_atten without attention layers, for se_e3, and for se_atten with attention layers;
/// type embeddings must have been removed (by_species()). `options` have table_r_min set where a tolerance is.
template <class T>
std::unique_ptr<DescriptorPart<T>> make_pair_part(const DeepPotentialModel& descriptor, const EngineOptions& options);
template <class T>
std::unique_ptr<DescriptorPart<T>> make_angle_part(const DeepPotentialModel& descriptor, const EngineOptions& options);
template <class T>
std::unique_ptr<DescriptorPart<T>> make_attention_part(const DeepPotentialModel& descriptor,
                                                       const EngineOptions& options);

/// Cut-off, statistics and hidden neighbours of a centre type.
NeighborKinds kinds_of(const DeepPotentialModel& descriptor, int type, bool single_cutoffs);

/// Adds forces, and virials if requested, from dE_i/dr_j of the pairs; rows of `gradient` beyond the pairs of the list
/// are ignored.
template <class T>
void add_pair_forces(const Chunk& chunk, const PairList<T>& pairs, const View<double* [3]>& gradient,
                     EngineOutput& output);

}  // namespace cambium::deepmd
