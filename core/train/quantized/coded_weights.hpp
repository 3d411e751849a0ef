#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/lowp/infer/binary_coding.hpp"
#include "core/train/network.hpp"

namespace cambium::train {

/// `quantize` of a stage that runs a trained model.
struct QuantizeParams {
  enum class Weights { binary, ternary };
  Weights weights = Weights::binary;
  int bits = 3;  ///< of binary weights
  static void describe(deck::Describe<QuantizeParams>& d);
};

/// The matrices of a trained network's linear layers in few bits, and products with them by tables (core/lowp/infer/binary_coding.hpp).
/// Matrices of fewer than 32 inputs or 16 outputs stay as they are: padded to whole blocks they would gain nothing. Everything else of
/// the network stays in float32, too. For networks that run, not for training.
class CodedWeights {
 public:
  static constexpr std::int64_t least_inputs = lowp::BinaryCodedMatrix::block_columns, least_outputs = lowp::BinaryCodedMatrix::block_rows;

  /// Codes the weights, n_in x n_out each. InputError when the network is not float32 or has no such matrix.
  CodedWeights(const QuantizeParams& params, const Network& network, std::span<const TensorRef> weights);

  /// y += x W for parameter k when it is coded; else does nothing and returns false. x: (rows, n_in), y: (rows, n_out), row-major.
  bool add_product(int k, const float* x, int rows, float* y) const;
  bool add_product(int, const double*, int, double*) const { return false; }  ///< networks in double precision have no coded matrices
  /// x += y W^T, with the same coded W: for derivatives by the inputs. Its signs are kept a second time, by columns, from the first use on.
  bool add_transposed_product(int k, const float* y, int rows, float* x) const;
  bool add_transposed_product(int, const double*, int, double*) const { return false; }

  const lowp::BinaryCodedMatrix& matrix(int k) const { return coded_.at(k); }  ///< transposed: rows are outputs
  std::int64_t matrices() const { return std::ssize(coded_); }
  std::int64_t numbers() const { return numbers_; }  ///< weights in these matrices
  std::int64_t bytes() const { return bytes_; }      ///< of these matrices, with their scales, and by columns where that was used
  /// Of all weights of the network, those that stay in float32 included.
  std::int64_t bytes_of_all() const { return all_ - 4 * numbers_ + bytes_; }
  std::int64_t bytes_in_full() const { return all_; }
  /// "binary weights of 3 bits", for the log.
  std::string name() const;

 private:
  QuantizeParams params_;
  std::map<int, lowp::BinaryCodedMatrix> coded_;
  mutable std::map<int, std::vector<lowp::BinaryCodedMatrix>> by_columns_;
  std::int64_t numbers_ = 0, all_ = 0;
  mutable std::int64_t bytes_ = 0;
  mutable std::vector<float> product_;
};

}  // namespace cambium::train
