#include "plugins/graph/networks/pair_messages.hpp"

#include "core/base/constants.hpp"

namespace cambium::graph {

using torch::Tensor;

PairGeometry pair_geometry(const Tensor& position, const Tensor& first, const Tensor& second, const Tensor& shift,
                           double cutoff, std::int64_t radial) {
  PairGeometry out;
  const Tensor apart = position.index_select(0, second) + shift - position.index_select(0, first);
  const Tensor r = apart.square().sum(1, true).sqrt();
  const Tensor x = r / cutoff;
  out.cut = 1.0 + x * x * x * (-10.0 + x * (15.0 - 6.0 * x));
  const Tensor waves = torch::arange(1, radial + 1, x.options()) * constants::pi;
  out.radial = torch::sin(x * waves) / r * out.cut;
  const Tensor along = apart / r;
  out.to = torch::cat({first, second});
  out.from = torch::cat({second, first});
  out.direction = torch::cat({-along, along});
  return out;
}

InteractionImpl::InteractionImpl(std::int64_t width, std::int64_t radial, bool directions)
    : width_(width), directions_(directions) {
  const std::int64_t parts = directions ? 3 : 1;
  sender_in = register_module("sender_in", torch::nn::Linear(width, width));
  sender_out = register_module("sender_out", torch::nn::Linear(width, parts * width));
  filter = register_module("filter", torch::nn::Linear(radial, parts * width));
  mix_in = register_module("mix_in", torch::nn::Linear((directions ? 2 : 1) * width, width));
  mix_out = register_module("mix_out", torch::nn::Linear(width, parts * width));
  if (directions)
    vectors = register_module("vectors", torch::nn::Linear(torch::nn::LinearOptions(width, 2 * width).bias(false)));
}

/// Sums rows by their target atom.
static Tensor summed(const Tensor& rows, const PairGeometry& pairs, const Tensor& like) {
  return torch::zeros_like(like).index_add(0, pairs.to, rows);
}

void InteractionImpl::send(AtomState& atoms, const PairGeometry& pairs) {
  const Tensor known = sender_out(torch::silu(sender_in(atoms.scalar)));
  const Tensor shape = filter(pairs.radial) * pairs.cut;
  const Tensor message = known.index_select(0, pairs.from) * torch::cat({shape, shape});
  if (!directions_) {
    atoms.scalar = atoms.scalar + summed(message, pairs, atoms.scalar);
    return;
  }
  const auto part = message.split(width_, 1);
  const bool none = !atoms.vector.defined();
  if (none) atoms.vector = torch::zeros({atoms.scalar.size(0), 3, width_}, atoms.scalar.options());
  Tensor vectors = part[1].unsqueeze(1) * pairs.direction.unsqueeze(2);
  if (!none) vectors = vectors + part[2].unsqueeze(1) * atoms.vector.index_select(0, pairs.from);
  atoms.scalar = atoms.scalar + summed(part[0], pairs, atoms.scalar);
  atoms.vector = atoms.vector + summed(vectors, pairs, atoms.vector);
}

void InteractionImpl::mix(AtomState& atoms) {
  if (!directions_) {
    atoms.scalar = atoms.scalar + mix_out(torch::silu(mix_in(atoms.scalar)));
    return;
  }
  const auto turned = vectors(atoms.vector).split(width_, 2);
  const Tensor length = (turned[1].square().sum(1) + 1e-8).sqrt();
  const auto part = mix_out(torch::silu(mix_in(torch::cat({atoms.scalar, length}, 1)))).split(width_, 1);
  atoms.scalar = atoms.scalar + part[0] + part[1] * (turned[0] * turned[1]).sum(1);
  atoms.vector = atoms.vector + part[2].unsqueeze(1) * turned[0];
}

void InteractionImpl::forward(AtomState& atoms, const PairGeometry& pairs) {
  send(atoms, pairs);
  mix(atoms);
}

}  // namespace cambium::graph
