#include "core/train/weights/divided/divided_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/timing.hpp"

namespace cambium::train {

static double bound_of(const std::optional<Clip>& clip) {
  return clip && clip->value ? *clip->value : std::numeric_limits<double>::infinity();
}

/// A kept number as the optimizer sees it: scaled and bounded.
template <class T>
static auto scaled(T value, double factor, double bound) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const R x = static_cast<R>(value) * static_cast<R>(factor);
  return std::clamp(x, static_cast<R>(-bound), static_cast<R>(bound));
}

/// Every group in 64 leaves (or as many as ranks), each summed by one rank and all added in order on every rank: the
/// same bits whatever divides the states, if the ranks divide 64.
template <class T>
double DividedStep::squared_norm(const StepNumbers& numbers) {
  const std::int64_t parts = parts_of(parts_.mesh, parts_.partition.states);
  const std::int64_t leaves = 64 % parts == 0 ? 64 : parts;
  const double bound = bound_of(numbers.clip), factor = numbers.factor;
  std::vector<double> table(parts_.groups.size() * static_cast<std::size_t>(leaves), 0.0);
  for (const auto& g : parts_.groups) {
    const Interval mine = parts_.stepped(g);
    const T* values = reinterpret_cast<const T*>(parts_.stepped_gradients_of(g));
    const std::int64_t size = g.whole.size() / leaves, first = (mine.begin - g.whole.begin) / size;
    for (std::int64_t leaf = 0; leaf < mine.size() / size; ++leaf) {
      double sums[8] = {};
      for (std::int64_t i = 0; i < size; ++i) {
        const double x = scaled(values[leaf * size + i], factor, bound);
        sums[i % 8] += x * x;
      }
      table[static_cast<std::size_t>(g.number * leaves + first + leaf)] =
          ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
  }
  for (int level = 0; level < parts_.partition.states; ++level)
    parts_.mesh.along(static_cast<std::size_t>(level)).sum(table);
  double sum = 0.0;
  for (double leaf : table) sum += leaf;
  return sum;
}

/// The part of a group's gradient that this rank steps with, in float32 where bfloat16 is kept; else in place (an empty
/// block).
template <class T>
Block DividedStep::bounded_gradient(const DividedGroup& g, const StepNumbers& numbers, double shrink) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t n = g.shard->size();
  const double bound = bound_of(numbers.clip), factor = numbers.factor;
  T* values = reinterpret_cast<T*>(parts_.stepped_gradients_of(g));
  Block wide;
  if constexpr (std::is_same_v<T, Bf16>)
    wide = Block(parts_.memory, Held::windows, n * static_cast<std::int64_t>(sizeof(R)));
  R* out = wide ? reinterpret_cast<R*>(wide.data()) : reinterpret_cast<R*>(values);
  for (std::int64_t k = 0; k < n; ++k) {
    const R x = scaled(values[k], factor, bound);
    out[k] = shrink == 1.0 ? x : x * static_cast<R>(shrink);
  }
  return wide;
}

/// This rank's part of the weights, exact; direct ones are unpacked into `window`.
FlatBuffer DividedStep::exact_weights(const DividedGroup& g, Block& window) {
  const auto& form = parts_.form;
  if (form.packed) {
    window = Block(parts_.memory, Held::windows, g.shard->size() * size_of(form.real));
    form.to_real(parts_.stepped_weights_of(g), parts_.stepped(g), window.data());
    return FlatBuffer::on(*g.shard, form.real, window.data());
  }
  if (!parts_.codes_updates()) return FlatBuffer::on(*g.shard, form.kept, parts_.stepped_weights_of(g));
  return FlatBuffer::on(*g.shard, form.kept, parts_.state_of(g, parts_.states.size() - 1));
}

void DividedStep::step_group(const DividedGroup& g, const FlatBuffer& gradients, const StepNumbers& numbers) {
  Block window;
  auto weights = exact_weights(g, window);
  auto states = parts_.optimizer_states(g);
  optimizer_.step({weights, gradients, states, numbers.rate, numbers.step});
  if (!parts_.form.packed) return;
  const Interval mine = parts_.stepped(g);
  changed_ += parts_.form.packed->pack(
      reinterpret_cast<const float*>(window.data()), mine.begin, mine.end, parts_.exchanges.address(0, 0).seed,
      numbers.step, parts_.settings.direct->rounding == DirectParams::Rounding::nearest,
      {parts_.stepped_weights_of(g), static_cast<std::size_t>(parts_.form.bytes(mine))});
}

/// Hands out this rank's new weights, coded; the copies of all ranks change by the same messages.
void DividedStep::hand_out_in_few_bits(const DividedGroup& g) {
  const auto codec = parts_.partition.codecs.update;
  const DType kept = parts_.form.kept;
  const Interval copies = parts_.share(g, g.weights_depth);
  std::vector<float> own(static_cast<std::size_t>(parts_.stepped(g).size())), held(own.size());
  with_kept(kept, [&]<class T>() {
    const T* exact = reinterpret_cast<const T*>(parts_.state_of(g, parts_.states.size() - 1));
    const T* copy = reinterpret_cast<const T*>(parts_.stepped_weights_of(g));
    for (std::size_t k = 0; k < own.size(); ++k)
      own[k] = codec == WeightCodec::difference ? static_cast<float>(exact[k]) - static_cast<float>(copy[k])
                                                : static_cast<float>(exact[k]);
  });
  gather_coded(own, g.whole, parts_.partition.states, g.weights_depth, codec, parts_.exchanges.address(g.number, 1),
               parts_.wires, "gather update", [&](Interval part, std::span<const float> numbers) {
                 std::byte* to = parts_.weights_of(g) + (part.begin - copies.begin) * size_of(kept);
                 if (codec != WeightCodec::difference) return from_floats(numbers, kept, to);
                 to_floats(to, kept, held);
                 for (std::size_t k = 0; k < held.size(); ++k) held[k] += numbers[k];
                 from_floats(held, kept, to);
               });
}

void DividedStep::hand_out(const DividedGroup& g) {
  if (parts_.codes_updates()) return hand_out_in_few_bits(g);
  parts_.form.gather(parts_.weights_of(g), g.whole, parts_.partition.states, g.weights_depth, parts_.wires,
                     "gather update");
}

double DividedStep::step(const StepNumbers& numbers) {
  changed_ = 0;
  const auto& clip = numbers.clip;
  double norm = std::numeric_limits<double>::quiet_NaN(), shrink = 1.0;
  with_kept(parts_.form.kept, [&]<class T>() {
    if (clip && clip->norm) {
      norm = std::sqrt(squared_norm<T>(numbers));
      if (norm > *clip->norm) shrink = *clip->norm / norm;
    }
    for (const auto& g : parts_.groups) {
      Block wide = bounded_gradient<T>(g, numbers, shrink);
      const auto gradients =
          FlatBuffer::on(*g.shard, parts_.form.real, wide ? wide.data() : parts_.stepped_gradients_of(g));
      step_group(g, gradients, numbers);
    }
  });
  const double start = wall_seconds();
  for (const auto& g : parts_.groups) hand_out(g);
  parts_.exchanges.waited_since(start);
  return norm;
}

void DividedStep::start(const FlatBuffer& whole) {
  const std::int64_t size = size_of(parts_.form.real);
  for (const auto& g : parts_.groups) {
    const Interval mine = parts_.stepped(g);
    Block own(parts_.memory, Held::copies, mine.size() * size);
    std::copy_n(bytes_at(whole, mine.begin), mine.size() * size, own.data());
    if (parts_.codes_updates()) std::copy_n(own.data(), own.bytes(), parts_.state_of(g, parts_.states.size() - 1));
    auto weights = FlatBuffer::on(*g.shard, parts_.form.real, own.data());
    auto states = parts_.optimizer_states(g);
    optimizer_.start(weights, states);
    parts_.form.to_kept(own.data(), mine, parts_.stepped_weights_of(g));
    parts_.form.gather(parts_.weights_of(g), g.whole, parts_.partition.states, g.weights_depth, parts_.wires,
                       "whole copies");
  }
}

}  // namespace cambium::train
