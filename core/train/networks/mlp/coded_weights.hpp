#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/lowp/binary_coding.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Samples used to calibrate quantised matrices.
struct CalibrateParams {
  deck::Choice<Dataset> dataset;
  std::int64_t samples = 32;  ///< evenly spaced over the data set
  static void describe(deck::Describe<CalibrateParams>& d);
};

/// `quantize` of a stage that runs a trained model.
struct QuantizeParams {
  enum class Weights { binary, ternary };
  Weights weights = Weights::binary;
  int bits = 3;  ///< of binary weights
  std::optional<CalibrateParams> calibrate;
  static void describe(deck::Describe<QuantizeParams>& d);
};

/// Transpose of a float32 matrix n_in x n_out.
std::vector<float> transposed(const TensorRef& w);

/// Quantised matrices of a trained network's linear layers, and products with them by lookup tables
/// (core/lowp/binary_coding.hpp). Matrices with fewer than 32 inputs or 16 outputs are not quantised: padding to full
/// blocks would cancel the gain. All other parameters stay in float32. For inference only.
class CodedWeights {
 public:
  static constexpr std::int64_t least_inputs = lowp::BinaryCodedMatrix::block_columns,
                                least_outputs = lowp::BinaryCodedMatrix::block_rows;

  /// Quantises the weights, n_in x n_out each. InputError if the network is not float32 or has no such matrix.
  CodedWeights(const QuantizeParams& params, const Network& network, std::span<const TensorRef> weights);

  /// Calibrates the matrices on their inputs when `network` evaluates `samples`: one after the other, in the order of
  /// use, including the effect of earlier ones on the inputs (lowp::calibrated). Afterwards the mean product of every
  /// linear layer over the samples, quantised or not, equals that of the full network, by shifts added in
  /// add_product(). The network uses these weights from now on.
  void calibrate(Network& network, std::span<const TensorRef> weights, std::span<const SamplePtr> samples);

  /// y += x W for parameter k if it is quantised; otherwise returns false and adds only the calibration shift to y. x:
  /// (rows, n_in), y: (rows, n_out), row-major.
  bool add_product(int k, const float* x, int rows, float* y) const;
  bool add_product(int, const double*, int, double*) const {
    return false;
  }  ///< networks in double precision have no quantised matrices
  /// x += y W^T, with the same quantised W: for derivatives by the inputs. A second copy of its signs, by columns, is
  /// stored from the first use on.
  bool add_transposed_product(int k, const float* y, int rows, float* x) const;
  bool add_transposed_product(int, const double*, int, double*) const { return false; }

  const lowp::BinaryCodedMatrix& matrix(int k) const { return coded_.at(k); }  ///< transposed: rows are outputs
  std::int64_t matrices() const { return std::ssize(coded_); }
  std::int64_t numbers() const { return numbers_; }  ///< weights in these matrices
  std::int64_t bytes() const {
    return bytes_;
  }  ///< of these matrices, including scales, and the copies by columns if used
  /// Bytes of all weights of the network, including those in float32.
  std::int64_t bytes_of_all() const { return all_ - 4 * numbers_ + bytes_; }
  std::int64_t bytes_in_full() const { return all_; }
  /// "binary weights of 3 bits", for the log.
  std::string name() const;

 private:
  QuantizeParams params_;
  /// Observer for calibration: inputs of linear layers, in the order of use.
  struct Watch {
    bool all = false;  ///< every layer, none quantised; else only `layer`, after those in `shift_`
    int layer = -1;
    std::vector<int> order = {};
    std::map<int, std::vector<float>> inputs = {};
  };
  static constexpr std::size_t most_numbers = std::size_t{1} << 25;  ///< inputs of one layer; later ones are ignored
  void watch(int k, const float* x, int rows) const;
  void calibrate_layer(int k, const TensorRef& weights, const std::vector<float>& full,
                       const std::vector<float>& rounded);
  void add_shift(int k, int rows, float* y) const;

  std::map<int, lowp::BinaryCodedMatrix> coded_;
  std::map<int, std::vector<float>> shift_;
  mutable std::map<int, lowp::BinaryCodedMatrix> by_columns_;
  mutable std::optional<Watch> watch_;
  std::map<int, std::int64_t> inputs_of_;  ///< number of inputs of every linear layer
  std::int64_t numbers_ = 0, all_ = 0;
  mutable std::int64_t bytes_ = 0;
  mutable std::vector<float> product_;
};

}  // namespace cambium::train
