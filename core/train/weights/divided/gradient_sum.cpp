#include "core/train/weights/divided/gradient_sum.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::train {

GradientSum::GradientSum(DividedParts& parts) : parts_(parts), views_(parts.views()), sums_(parts.groups.size()) {}

/// The network writes where the gradients are kept.
bool GradientSum::in_place() const {
  return parts_.partition.gradients == 0 && parts_.form.kept == parts_.form.real &&
         !(parts_.settings.ordered && slices_ > 1);
}

void GradientSum::begin(int slices) {
  slices_ = slices;
  if (in_place()) std::fill_n(parts_.gradients.data(), parts_.gradients.bytes(), std::byte{0});
}

void GradientSum::next_slice(int slice) {
  slice_ = slice;
  for (auto& g : parts_.groups) {
    sum_of(g).missing = static_cast<int>(g.tensors.size());
    if (g.module < 0) open(g);
  }
  tensor_done_.assign(parts_.layout->tensors().size(), 0);
  next_ = 0;
}

void GradientSum::open(DividedGroup& g) {
  std::byte* data = nullptr;
  if (in_place()) {
    data = parts_.gradients_of(g);
  } else {
    auto& window = sum_of(g).window;
    window = Block(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
    data = window.data();
  }
  parts_.place(views_, g, data);
}

void GradientSum::backward(int module) {
  for (auto& g : parts_.groups)
    if (g.module == module) open(g);
}

bool GradientSum::ready(int tensor) {
  if (std::exchange(tensor_done_[tensor], 1)) return false;
  --sums_[parts_.group_of[tensor]].missing;
  const auto before = next_;
  // Groups are sent in one order on every rank.
  while (next_ < parts_.groups.size() && sums_[next_].missing == 0) group_final(parts_.groups[next_++]);
  return before == next_;
}

void GradientSum::end_slice() {
  if (next_ == parts_.groups.size()) return;
  for (std::size_t k = tensor_done_.size(); k-- > 0;) {
    if (tensor_done_[k] == 0 && parts_.groups[parts_.group_of[k]].module >= 0)
      throw InternalError("a network did not go backward through one of its modules");
    ready(static_cast<int>(k));
  }
}

void GradientSum::advance() {
  if (pending_.group) sum_of(*pending_.group).reduce.advance(false);
  if (parts_.partition.gradients == 0 && parts_.settings.overlap && last_slice())
    for (std::size_t k = 0; k < next_; ++k) sums_[k].reduce.advance(false);
}

/// In the kept precision.
Block GradientSum::narrowed(Block window, std::int64_t n) const {
  if (parts_.form.kept == parts_.form.real) return window;
  Block kept(parts_.memory, Held::windows, n * size_of(parts_.form.kept));
  const auto* wide = reinterpret_cast<const float*>(window.data());
  auto* narrow = reinterpret_cast<Bf16*>(kept.data());
  for (std::int64_t k = 0; k < n; ++k) narrow[k] = Bf16(wide[k]);
  return kept;
}

/// A slice's gradient of a group is complete on this rank.
void GradientSum::group_final(DividedGroup& g) {
  const bool overlaps = last_slice() && parts_.settings.overlap;
  if (in_place()) {
    if (overlaps) start_reduce(g);
    return;
  }
  Block kept = narrowed(std::move(sum_of(g).window), g.whole.size());
  sum_of(g).window = {};
  parts_.place(views_, g, nullptr);
  if (parts_.partition.gradients > 0) return send_slice(g, std::move(kept));
  accumulate(g, kept.data(), g.whole.size(), slice_);
  if (overlaps) start_reduce(g);
}

/// Sums a slice's gradient over the ranks among which gradients are divided.
void GradientSum::send_slice(DividedGroup& g, Block kept) {
  complete_pending();  // two gradients in flight at most
  pending_ = {&g, std::move(kept), slice_};
  const int depth = parts_.partition.gradients;
  if (parts_.partition.codecs.reduces())
    reduce_coded(pending_.kept.data(), g.whole, 0, depth, parts_.form.kept, parts_.partition.codecs.gradients,
                 parts_.exchanges.address(g.number, 0), parts_.wires);
  else
    sum_of(g).reduce.start(pending_.kept.data(), g.whole, 0, depth, parts_.form.kept, parts_.wires, 100 + g.number);
  if (!parts_.settings.overlap) complete_pending();
}

void GradientSum::complete_pending() {
  if (!pending_.group) return;
  const double start = wall_seconds();
  DividedGroup& g = *pending_.group;
  sum_of(g).reduce.advance(true);
  const Interval mine = parts_.share(g, parts_.partition.gradients);
  accumulate(g, pending_.kept.data() + (mine.begin - g.whole.begin) * size_of(parts_.form.kept), mine.size(),
             pending_.slice);
  pending_ = {};
  parts_.exchanges.waited_since(start);
}

/// Adds a slice's numbers to what is kept; in ordered mode as one adds 1 to a binary number: two sums of equal size
/// carry.
void GradientSum::accumulate(DividedGroup& g, std::byte* values, std::int64_t n, int slice) {
  auto& sums = sum_of(g).sums;
  auto& full = sum_of(g).full;
  with_kept(parts_.form.kept, [&]<class T>() {
    T* x = reinterpret_cast<T*>(values);
    T* sum = reinterpret_cast<T*>(parts_.gradients_of(g));
    if (!parts_.settings.ordered || slices_ == 1) {
      if (slice == 0)
        std::copy_n(x, n, sum);
      else
        for (std::int64_t k = 0; k < n; ++k) sum[k] += x[k];
      return;
    }
    std::size_t place = 0;
    for (; (1 << place) < slices_; ++place) {
      if (sums.size() <= place) {
        sums.emplace_back(parts_.memory, Held::windows, n * size_of(parts_.form.kept));
        full.push_back(0);
      }
      if (!full[place]) break;
      T* earlier = reinterpret_cast<T*>(sums[place].data());
      for (std::int64_t k = 0; k < n; ++k) x[k] = earlier[k] += x[k];
      full[place] = 0;
    }
    if ((1 << place) == slices_) {
      std::copy_n(x, n, sum);
      sums.clear();
      full.clear();
    } else {
      std::copy_n(x, n, reinterpret_cast<T*>(sums[place].data()));
      full[place] = 1;
    }
  });
}

/// Sums what is kept over the levels that gradients are not divided over.
void GradientSum::start_reduce(DividedGroup& g) {
  const int depth = parts_.partition.gradients, levels = static_cast<int>(parts_.mesh.levels().size());
  if (parts_.partition.codecs.reduces())
    return reduce_coded(parts_.gradients_of(g), g.whole, depth, levels, parts_.form.kept,
                        parts_.partition.codecs.gradients, parts_.exchanges.address(g.number, 0), parts_.wires);
  sum_of(g).reduce.start(parts_.gradients_of(g), g.whole, depth, levels, parts_.form.kept, parts_.wires,
                         1000 + g.number);
}

void GradientSum::finish() {
  const double start = wall_seconds();
  complete_pending();
  const int levels = static_cast<int>(parts_.mesh.levels().size()), steps = parts_.partition.states;
  if (parts_.partition.gradients > 0 || !parts_.settings.overlap)
    for (auto& g : parts_.groups) start_reduce(g);
  for (auto& sum : sums_) sum.reduce.advance(true);
  for (auto& g : parts_.groups)
    if (steps < levels)
      gather_levels(parts_.stepped_gradients_of(g), g.whole, levels, steps, parts_.form.kept, parts_.wires,
                    "gather gradient");
  parts_.exchanges.waited_since(start);
}

}  // namespace cambium::train
