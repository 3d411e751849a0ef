#include "core/train/weights/divided/divided_step.hpp"

#include <algorithm>
#include <limits>

#include "core/base/timing.hpp"

namespace cambium::train {

/// Norm of the entire gradient, except that of frozen parameters, of which the ranks along the states' levels have one
/// part each.
template <class T>
double DividedStep::norm_of(BoundedGradient& bounded) {
  if (!bounded.bounds_norm()) return std::numeric_limits<double>::quiet_NaN();
  const auto over_parts = [&](auto&& f) {
    for (const auto& g : parts_.groups) {
      const T* values = reinterpret_cast<const T*>(parts_.stepped_gradients_of(g));
      for_each_trained(*g.shard, optimizer_.groups(),
                       [&](std::int64_t first, std::int64_t count) { f(values + first, count); });
    }
  };
  const auto over_levels = [&](auto&& f) {
    for (int level = 0; level < parts_.partition.states; ++level) f(parts_.mesh.along(static_cast<std::size_t>(level)));
  };
  over_parts([&](const T* values, std::int64_t n) { bounded.look(values, n); });
  over_levels([&](const Comm& comm) { bounded.largest_of(comm); });
  over_parts([&](const T* values, std::int64_t n) { bounded.add(values, n); });
  over_levels([&](const Comm& comm) { bounded.sum_of(comm); });
  return bounded.norm();
}

std::vector<double> DividedStep::squared_gradients() {
  std::vector<double> out(parts_.layout->tensors().size(), 0.0);
  with_kept(parts_.form.kept, [&]<class T>() {
    for (const auto& g : parts_.groups) {
      const Interval mine = parts_.stepped(g);
      const T* values = reinterpret_cast<const T*>(parts_.stepped_gradients_of(g));
      for (const int k : g.tensors) {
        const auto& tensor = parts_.layout->tensors()[static_cast<std::size_t>(k)];
        const std::int64_t end = std::min(mine.end, tensor.offset + tensor.elements);
        for (std::int64_t i = std::max(mine.begin, tensor.offset); i < end; ++i) {
          const auto x = static_cast<double>(static_cast<Stepped<T>>(values[i - mine.begin]));
          out[static_cast<std::size_t>(k)] += x * x;
        }
      }
    }
  });
  for (int level = 0; level < parts_.partition.states; ++level)
    parts_.mesh.along(static_cast<std::size_t>(level)).sum(out);
  return out;
}

/// The clipped gradient of the part that this rank updates, in float32 if stored as bfloat16; else in place (returns an
/// empty block).
template <class T>
Block DividedStep::bounded_gradient(const DividedGroup& g, const BoundedGradient& bounded) {
  using R = Stepped<T>;
  const std::int64_t n = g.shard->size();
  T* values = reinterpret_cast<T*>(parts_.stepped_gradients_of(g));
  Block wide;
  if constexpr (std::is_same_v<T, Bf16>)
    wide = Block(parts_.memory, Held::windows, n * static_cast<std::int64_t>(sizeof(R)));
  bounded.take(values, wide ? reinterpret_cast<R*>(wide.data()) : reinterpret_cast<R*>(values), n);
  return wide;
}

/// This rank's exact part of the weights; direct ones are unpacked into `window`.
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

/// Updates the average by this rank's part of the weights, given in storage format.
void DividedStep::update_average(const DividedGroup& g, const FlatBuffer& weights, std::int64_t step) {
  const auto& form = parts_.form;
  if (!parts_.settings.average) return;
  auto average = FlatBuffer::on(*g.shard, form.real, parts_.average_of(g));
  if (weights.dtype() == form.real) return parts_.settings.average->update(average, weights, step);
  Block wide(parts_.memory, Held::windows, g.shard->size() * size_of(form.real));
  form.to_real(parts_.stepped_weights_of(g), parts_.stepped(g), wide.data());
  parts_.settings.average->update(average, FlatBuffer::on(*g.shard, form.real, wide.data()), step);
}

/// For optimizers that need complete tensors: gathers the tensors of which this rank owns a part, updates them and
/// extracts its part. A tensor is updated redundantly by all ranks that own parts of it.
void DividedStep::step_whole_tensors(const DividedGroup& g, FlatBuffer& weights, const FlatBuffer& gradients,
                                     std::span<FlatBuffer> states, const StepNumbers& numbers) {
  const Interval mine = parts_.stepped(g);
  Interval needed{mine.end, mine.end};
  for (const int k : g.tensors) {
    const auto& tensor = parts_.layout->tensors()[static_cast<std::size_t>(k)];
    if (tensor.offset >= mine.end || tensor.offset + tensor.elements <= mine.begin) continue;
    needed.begin = std::min(needed.begin, tensor.offset);
    needed.end = std::max(needed.end, tensor.offset + tensor.elements);
  }
  const FlatLayout layout(*parts_.layout, needed.begin, needed.end);
  std::vector<Block> blocks;
  const auto gathered = [&](const FlatBuffer& part) {
    const std::int64_t size = size_of(part.dtype());
    Block& all = blocks.emplace_back(parts_.memory, Held::windows, g.whole.size() * size);
    std::copy_n(bytes_at(part, 0), mine.size() * size, all.data() + (mine.begin - g.whole.begin) * size);
    gather_levels(all.data(), g.whole, parts_.partition.states, 0, part.dtype(), parts_.wires, "gather tensors");
    return FlatBuffer::on(layout, part.dtype(), all.data() + (needed.begin - g.whole.begin) * size);
  };
  FlatBuffer w = gathered(weights);
  const FlatBuffer gradient = gathered(gradients);
  std::vector<FlatBuffer> s;
  for (const auto& state : states) s.push_back(gathered(state));
  if (needed.size() > 0) optimizer_.step({w, gradient, s, numbers.rate, numbers.step});
  const auto take_back = [&](const FlatBuffer& from, FlatBuffer& to) {
    const Interval both{std::max(mine.begin, needed.begin), std::min(mine.end, needed.end)};
    const std::int64_t size = size_of(to.dtype());
    if (both.size() > 0)
      std::copy_n(bytes_at(from, both.begin - needed.begin), both.size() * size,
                  reinterpret_cast<std::byte*>(to.values<std::uint8_t>().data()) + (both.begin - mine.begin) * size);
  };
  take_back(w, weights);
  for (std::size_t k = 0; k < s.size(); ++k) take_back(s[k], states[k]);
}

void DividedStep::step_group(const DividedGroup& g, const FlatBuffer& gradients, const StepNumbers& numbers) {
  Block window;
  auto weights = exact_weights(g, window);
  auto states = parts_.optimizer_states(g);
  if (optimizer_.elementwise() || parts_.partition.states == 0)
    optimizer_.step({weights, gradients, states, numbers.rate, numbers.step});
  else
    step_whole_tensors(g, weights, gradients, states, numbers);
  update_average(g, weights, numbers.step);
  if (!parts_.form.packed) return;
  const Interval mine = parts_.stepped(g);
  changed_ += parts_.form.packed->pack(
      reinterpret_cast<const float*>(window.data()), mine.begin, mine.end, parts_.exchanges.address(0, 0).seed,
      numbers.step, parts_.settings.direct->rounding == DirectParams::Rounding::nearest,
      {parts_.stepped_weights_of(g), static_cast<std::size_t>(parts_.form.bytes(mine))});
}

/// Sends this rank's new weights encoded; the copies on all ranks change by the same messages.
void DividedStep::hand_out_in_few_bits(const DividedGroup& g) {
  const auto codec = parts_.partition.codecs.update;
  const DType kept = parts_.form.kept;
  const Interval copies = parts_.share(g, g.weights_depth);
  std::vector<float> own(parts_.stepped(g).size()), held(own.size());
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
  double norm = 0.0;
  BoundedGradient bounded(numbers.factor, numbers.clip, parts_.layout->parameters());
  with_kept(parts_.form.kept, [&]<class T>() {
    norm = norm_of<T>(bounded);
    for (const auto& g : parts_.groups) {
      Block wide = bounded_gradient<T>(g, bounded);
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
  for (const auto& g : parts_.groups) start(g, bytes_at(whole, g.whole.begin));
}

void DividedStep::start(const DividedGroup& g, const std::byte* whole) {
  const std::int64_t size = size_of(parts_.form.real);
  const Interval mine = parts_.stepped(g);
  Block own(parts_.memory, Held::copies, mine.size() * size);
  std::copy_n(whole + (mine.begin - g.whole.begin) * size, mine.size() * size, own.data());
  if (parts_.codes_updates()) std::copy_n(own.data(), own.bytes(), parts_.state_of(g, parts_.states.size() - 1));
  auto weights = FlatBuffer::on(*g.shard, parts_.form.real, own.data());
  auto states = parts_.optimizer_states(g);
  optimizer_.start(weights, states);
  if (parts_.settings.average) std::copy_n(own.data(), own.bytes(), parts_.average_of(g));
  parts_.form.to_kept(own.data(), mine, parts_.stepped_weights_of(g));
  parts_.form.gather(parts_.weights_of(g), g.whole, parts_.partition.states, g.weights_depth, parts_.wires,
                     "full copies");
}

}  // namespace cambium::train
