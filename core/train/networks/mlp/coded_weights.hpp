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

/// Samples to which matrices of few bits are fitted.
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

/// A matrix n_in x n_out of float32 as n_out x n_in.
std::vector<float> transposed(const TensorRef& w);

/// The matrices of a trained network's linear layers in few bits, and products with them by tables
/// (core/lowp/binary_coding.hpp). Matrices of fewer than 32 inputs or 16 outputs stay as they are: padded to
/// whole blocks they would gain nothing. Everything else of the network stays in float32, too. For networks that run,
/// not for training.
class CodedWeights {
 public:
  static constexpr std::int64_t least_inputs = lowp::BinaryCodedMatrix::block_columns,
                                least_outputs = lowp::BinaryCodedMatrix::block_rows;

  /// Codes the weights, n_in x n_out each. InputError when the network is not float32 or has no such matrix.
  CodedWeights(const QuantizeParams& params, const Network& network, std::span<const TensorRef> weights);

  /// Fits the matrices to what they are multiplied by when `network` evaluates `samples`: one after the other, in the
  /// order of their use, each knowing what the ones before it do to its inputs (lowp::calibrated). Afterwards every
  /// linear layer's mean product over the samples is that of the full network, by numbers added in add_product(); of
  /// layers that are not coded, too. The network uses these weights from now on.
  void calibrate(Network& network, std::span<const TensorRef> weights, std::span<const SamplePtr> samples);

  /// y += x W for parameter k when it is coded; else returns false, and y gets no more than what calibration adds. x:
  /// (rows, n_in), y: (rows, n_out), row-major.
  bool add_product(int k, const float* x, int rows, float* y) const;
  bool add_product(int, const double*, int, double*) const {
    return false;
  }  ///< networks in double precision have no coded matrices
  /// x += y W^T, with the same coded W: for derivatives by the inputs. Its signs are kept a second time, by columns,
  /// from the first use on.
  bool add_transposed_product(int k, const float* y, int rows, float* x) const;
  bool add_transposed_product(int, const double*, int, double*) const { return false; }

  const lowp::BinaryCodedMatrix& matrix(int k) const { return coded_.at(k); }  ///< transposed: rows are outputs
  std::int64_t matrices() const { return std::ssize(coded_); }
  std::int64_t numbers() const { return numbers_; }  ///< weights in these matrices
  std::int64_t bytes() const {
    return bytes_;
  }  ///< of these matrices, with their scales, and by columns where that was used
  /// For all weights of the network, those that stay in float32 included.
  std::int64_t bytes_of_all() const { return all_ - 4 * numbers_ + bytes_; }
  std::int64_t bytes_in_full() const { return all_; }
  /// "binary weights of 3 bits", for the log.
  std::string name() const;

 private:
  QuantizeParams params_;
  /// Observer of calibration: inputs of linear layers, in the order of their use.
  struct Watch {
    bool all = false;  ///< every layer, and none is coded; else `layer` alone, behind those in `shift_`
    int layer = -1;
    std::vector<int> order = {};
    std::map<int, std::vector<float>> inputs = {};
  };
  static constexpr std::size_t most_numbers = std::size_t{1}
                                              << 25;  ///< inputs of one layer; later ones are not looked at
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
