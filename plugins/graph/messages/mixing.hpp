#pragma once
#include <vector>

#include "plugins/graph/messages/message_model.hpp"

namespace cambium::graph {

/// Mixing of the scalar and vector features in each atom: v' = v + c U v, s' = s + a + b (U v . V v), where U and V mix
/// the features and a, b, c are outputs of a network of s and |V v| (Schütt, Unke, Gastegger, ICML 2021, eqs. 9 and
/// 10). Without vectors s' = s + a(s). Rows of atoms: scalars [atom][width], vectors [atom][3][width].
class Mixing {
 public:
  /// Updates the features in place.
  void forward(const MessageModel& model, const MessageLayer& layer, int atoms, double* scalar, double* vector);
  /// Transforms derivatives by the outputs into derivatives by the inputs, in place. `scalar`, `vector`: inputs of
  /// forward().
  void backward(const MessageModel& model, const MessageLayer& layer, int atoms, const double* scalar,
                const double* vector, double* scalar_gradient, double* vector_gradient);

 private:
  void parts(const MessageModel& model, const MessageLayer& layer, int atoms, const double* scalar,
             const double* vector);
  void vectors_backward(std::size_t width, int atoms, const double* scalar_gradient, double* vector_gradient);

  std::vector<double> turned_;           ///< [atom][3][U v, V v]
  std::vector<double> length_;           ///< [atom][width]: of V v
  std::vector<double> joined_;           ///< [atom]: scalars, lengths
  std::vector<double> hidden_, active_;  ///< [atom][width]
  std::vector<double> part_;             ///< [atom]: a, b, c
  std::vector<double> part_gradient_, turned_gradient_, hidden_gradient_, joined_gradient_;
};

}  // namespace cambium::graph
