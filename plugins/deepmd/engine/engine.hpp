#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/lowp/binary_coding.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/model/table.hpp"

namespace cambium::deepmd {

/// float64: everything in double. mixed: networks, tables and descriptors in float; environment rows, pair gradients
/// and every sum over pairs or atoms that enters a result in double.
enum class EnginePrecision { float64, mixed };

struct EngineOptions {
  EnginePrecision precision = EnginePrecision::float64;
  double compress_tolerance = 0.0;  ///< see tabulate_networks(); 0: the model's own tables, or networks without
  double table_r_min = 0.0;         ///< Å; 0: the model's min_distance, or 0.8 Å if the file has none
  bool float32_cutoffs = false;     ///< as DeePMD-kit's TensorFlow back end rounds rcut and rcut_smth
  double close_limit = 0.0;         ///< Å; pairs below it are counted
  std::vector<double> fparam;       ///< empty: the model's fallback
  std::vector<double> aparam;       ///< for every atom, unless EngineInput::aparam is given
  bool of_data = false;             ///< parameters are those of data and a command, not of a deck: for messages
  int chunk = 0;                    ///< atoms processed together; 0: chosen for the machine
};

struct EngineInput {
  const Particles& particles;
  const NeighborList& list;
  View<int*> model_type;       ///< model type by particle type
  bool totals = true;          ///< energy and virial
  View<double**> aparam = {};  ///< [owned row][parameter], or empty
};

/// Results are added to the arrays (empty arrays are left out).
struct EngineOutput {
  View<double* [3]> f;            ///< owned and ghost rows
  View<double*> atom_energy;      ///< owned rows
  View<double* [9]> atom_virial;  ///< owned and ghost rows
  double energy = 0.0;
  double virial[9] = {};
  double closest = 0.0;        ///< Å, closest pair found
  std::int64_t too_close = 0;  ///< pairs below close_limit, counted from both sides
};

/// One model, ready to be evaluated on the owned atoms of a rank.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void compute(const EngineInput& input, EngineOutput& output) = 0;
  /// Frame parameters of the next evaluations; InputError when their number is not the model's.
  virtual void set_fparam(std::span<const double> values) = 0;
  virtual const DeepPotentialModel& model() const = 0;
  virtual const TableReport* table() const = 0;  ///< null without compression
  /// Floating-point operations of matrix products per atom of a type (without the embedding networks).
  virtual double fitting_flops(int type) const = 0;
  virtual std::size_t bytes() const = 0;  ///< in use now: weights, tables, work arrays

  /// Energy network of a type as it is evaluated: its inputs may be fewer than the model's and in another order.
  virtual Network fitting_network(int type) const = 0;
  /// Replaces the energy network of a type by one with the same inputs. `coded`: see FittingNet.
  virtual void set_fitting_network(int type, const Network& net, std::span<const lowp::BinaryCodedMatrix> coded) = 0;
  /// From now on compute() appends the inputs of the energy networks, row by row, to an array for each type; null stops
  /// it.
  virtual void watch_inputs(std::vector<std::vector<double>>* by_type) = 0;
};

std::unique_ptr<Engine> make_engine(const DeepPotentialModel& model, const EngineOptions& options);

}  // namespace cambium::deepmd
