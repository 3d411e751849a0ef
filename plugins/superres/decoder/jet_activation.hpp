#pragma once
#include <cstdint>

#include "plugins/superres/decoder/jet_basis.hpp"

namespace cambium::superres {

/// Smooth activation functions: without second derivatives there would be no diffusion.
enum class Activation { softplus, tanh, swish };

/// a = sigma(z) for every stream: z and a are (streams, count), stream by stream. T is float or double.
template <class T>
void activate(Activation sigma, const JetBasis& basis, std::int64_t count, const T* z, T* a);

/// Gradient with respect to z, from z and the gradient with respect to a; g is both, in place.
template <class T>
void activate_back(Activation sigma, const JetBasis& basis, std::int64_t count, const T* z, T* g);

}  // namespace cambium::superres
