#pragma once
#include <cstdint>
#include <vector>

#include "plugins/podlstm/networks/layer_matrix.hpp"

namespace cambium::podlstm {

/// Float32 kernels of recurrent layers on the host. Sequences are time-major: row (t * batch + b) holds the features of
/// sample b at time t. All arrays are dense and owned by the caller.
struct SequenceShape {
  std::int64_t times = 0, batch = 0, in = 0, width = 0;
  std::int64_t rows() const { return times * batch; }
};

/// Weights of a long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates): gates in the order input,
/// forget, candidate, output; wx (in, 4 width), wh (width, 4 width), b (4 width):
///   i, f, o = sigmoid, g = tanh of x wx + h wh + b;  c' = f c + i g;  h' = o tanh(c').
/// A gated recurrent unit (Cho et al. 2014, reset after the product): gates reset, update, candidate, 3 not 4, and
///   r, z = sigmoid(x wx + h wh + b), n = tanh(x wx + b + r (h wh + bh)), h' = (1 - z) n + z h;  bh (width) follows b.
struct CellWeights {
  LayerMatrix wx, wh;
  const float* b;
};
struct CellGradients {
  LayerMatrixGradient wx, wh;
  float* b;  ///< accumulated, as the others
};

/// Values of the forward pass that the backward pass needs.
struct LstmTrace {
  std::vector<float> gates, cell, tanh_cell;  ///< (rows, 4 width), (rows, width), (rows, width)
};
struct GruTrace {
  std::vector<float> gates, inner;  ///< (rows, 3 width); h wh + bh of the candidate (rows, width)
};

/// h (rows, width) from x (rows, in); states start at zero.
void lstm_forward(const SequenceShape& s, const CellWeights& w, const float* x, float* h, LstmTrace& trace);
/// Back-propagation through time: dh (rows, width) is the gradient with respect to h and is overwritten; dx, unless
/// null, is accumulated.
void lstm_backward(const SequenceShape& s, const CellWeights& w, const float* x, const float* h, LstmTrace& trace,
                   float* dh, float* dx, const CellGradients& out);

void gru_forward(const SequenceShape& s, const CellWeights& w, const float* x, float* h, GruTrace& trace);
void gru_backward(const SequenceShape& s, const CellWeights& w, const float* x, const float* h, GruTrace& trace,
                  float* dh, float* dx, const CellGradients& out);

}  // namespace cambium::podlstm
