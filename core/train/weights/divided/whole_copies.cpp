#include "core/train/weights/divided/whole_copies.hpp"

#include <algorithm>

namespace cambium::train {

WholeCopy WholeCopies::whole_of(DType dtype, const std::function<void(const DividedGroup&, std::byte* into)>& gather) {
  auto copy = empty(dtype);
  auto* first = reinterpret_cast<std::byte*>(copy.numbers.values<std::uint8_t>().data());
  for (const auto& g : parts_.groups) gather(g, first + g.whole.begin * size_of(dtype));
  return copy;
}

/// Gathers a group in the storage format that is sharded over `depth` levels.
void WholeCopies::gather_kept(const DividedGroup& g, const std::byte* mine, int depth, std::byte* into) {
  if (parts_.form.plain()) {
    parts_.form.put(mine, parts_.share(g, depth), g.whole, into);
    return parts_.form.gather(into, g.whole, depth, 0, parts_.wires, "full copies");
  }
  Block kept(parts_.memory, Held::windows, parts_.form.bytes(g.whole));
  parts_.form.put(mine, parts_.share(g, depth), g.whole, kept.data());
  parts_.form.gather(kept.data(), g.whole, depth, 0, parts_.wires, "full copies");
  parts_.form.to_real(kept.data(), g.whole, into);
}

WholeCopy WholeCopies::weights() {
  return whole_of(parts_.form.real, [&](const DividedGroup& g, std::byte* into) {
    gather_kept(g, parts_.weights_of(g), g.weights_depth, into);
  });
}

WholeCopy WholeCopies::average() { return whole_of_states(parts_.average, parts_.form.real); }

WholeCopy WholeCopies::served() {
  const Block* other = parts_.served();
  return other ? whole_of_states(*other, parts_.form.real) : weights();
}

WholeCopy WholeCopies::best() {
  if (parts_.served()) return whole_of_states(best_, parts_.form.real);
  return whole_of(parts_.form.real, [&](const DividedGroup& g, std::byte* into) {
    gather_kept(g, best_.data() + g.best_at, parts_.partition.states, into);
  });
}

WholeCopy WholeCopies::state(std::size_t k) { return whole_of_states(parts_.states[k], parts_.infos[k].dtype); }

/// Gathers data stored in the order of the states.
WholeCopy WholeCopies::whole_of_states(const Block& states, DType dtype) {
  return whole_of(dtype, [&](const DividedGroup& g, std::byte* into) { gather_states(g, states, dtype, into); });
}

void WholeCopies::gather_states(const DividedGroup& g, const Block& states, DType dtype, std::byte* into) {
  const Interval mine = parts_.stepped(g);
  std::copy_n(states.data() + g.states_at * size_of(dtype), mine.size() * size_of(dtype),
              into + (mine.begin - g.whole.begin) * size_of(dtype));
  gather_levels(into, g.whole, parts_.partition.states, 0, dtype, parts_.wires, "full copies");
}

Block WholeCopies::served(const DividedGroup& g) {
  Block out(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
  if (const Block* other = parts_.served())
    gather_states(g, *other, parts_.form.real, out.data());
  else
    gather_kept(g, parts_.weights_of(g), g.weights_depth, out.data());
  return out;
}

Block WholeCopies::best(const DividedGroup& g) {
  Block out(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
  if (parts_.served())
    gather_states(g, best_, parts_.form.real, out.data());
  else
    gather_kept(g, best_.data() + g.best_at, parts_.partition.states, out.data());
  return out;
}

void WholeCopies::take_weights(const FlatBuffer& whole) {
  for (const auto& g : parts_.groups) take_weights(g, bytes_at(whole, g.whole.begin));
}

void WholeCopies::take_weights(const DividedGroup& g, const std::byte* whole) {
  const Interval mine = parts_.share(g, g.weights_depth);
  parts_.form.to_kept(whole + (mine.begin - g.whole.begin) * size_of(parts_.form.real), mine, parts_.weights_of(g));
}

void WholeCopies::take_state(std::size_t k, const FlatBuffer& whole) { take_states(parts_.states[k], whole); }

void WholeCopies::take_average(const FlatBuffer& whole) { take_states(parts_.average, whole); }

void WholeCopies::take_states(Block& states, const FlatBuffer& whole) {
  for (const auto& g : parts_.groups) {
    const Interval mine = parts_.stepped(g);
    const std::int64_t size = size_of(whole.dtype());
    std::copy_n(bytes_at(whole, mine.begin), mine.size() * size, states.data() + g.states_at * size);
  }
}

void WholeCopies::make_best() {
  if (best_) return;
  const Block* other = parts_.served();
  std::int64_t bytes = other ? other->bytes() : 0;
  if (!other)
    for (const auto& g : parts_.groups) bytes += parts_.form.bytes(parts_.stepped(g));
  best_ = Block(parts_.memory, Held::copies, bytes);
}

void WholeCopies::take_best(const FlatBuffer& whole) {
  make_best();
  if (parts_.served()) return take_states(best_, whole);
  for (const auto& g : parts_.groups) {
    const Interval mine = parts_.stepped(g);
    parts_.form.to_kept(bytes_at(whole, mine.begin), mine, best_.data() + g.best_at);
  }
}

void WholeCopies::keep_best() {
  make_best();
  if (const Block* other = parts_.served()) {
    std::copy_n(other->data(), other->bytes(), best_.data());
    return;
  }
  for (const auto& g : parts_.groups)
    std::copy_n(parts_.stepped_weights_of(g), parts_.form.bytes(parts_.stepped(g)), best_.data() + g.best_at);
}

}  // namespace cambium::train
