#include "core/train/weights/divided/weight_windows.hpp"

#include <utility>

#include "core/base/timing.hpp"

namespace cambium::train {

WeightWindows::WeightWindows(DividedParts& parts)
    : parts_(parts), views_(parts.views()), windows_(parts.groups.size()) {
  for (auto& g : parts_.groups)
    if (g.weights_depth > 0) divided_.insert(divided_.begin(), &g);  // groups are in the order of the backward pass
}

void WeightWindows::begin(int slices) {
  slices_ = slices;
  slice_ = 0;
  for (auto& g : parts_.groups)
    if (g.module < 0) open(g, "gather forward");
}

void WeightWindows::end() {
  for (auto& g : parts_.groups)
    if (g.module < 0) close(g);
}

void WeightWindows::next_slice(int slice) { slice_ = slice, uses_ = 0; }

void WeightWindows::use(int module, std::string_view what) {
  for (auto& g : parts_.groups)
    if (g.module == module) {
      open(g, what);
      prefetch_after(g, false);
    }
}

void WeightWindows::release(int module) {
  for (auto& g : parts_.groups)
    if (g.module == module) {
      close(g);
      prefetch_after(g, true);
    }
}

/// Gathers a group's weights and passes them to the network.
void WeightWindows::open(DividedGroup& g, std::string_view what) {
  std::byte* data = nullptr;
  if (seen_in_place(g)) {
    data = parts_.weights_of(g);
  } else if (g.weights_depth == 0) {
    auto& window = windows_[g.number];
    window = Block(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
    data = window.data();
    parts_.form.to_real(parts_.weights_of(g), g.whole, data);
  } else {
    data = gathered(g, what);
  }
  parts_.place(views_, g, data);
}

void WeightWindows::close(DividedGroup& g) {
  windows_[g.number] = {};
  if (!seen_in_place(g)) parts_.place(views_, g, nullptr);
}

/// Waits for a group's sharded weights and returns them in the network's precision.
std::byte* WeightWindows::gathered(DividedGroup& g, std::string_view what) {
  const double start = wall_seconds();
  if (prefetched_.group != &g) start_gather(g, what);
  prefetched_.gather.advance(true);
  auto together = std::exchange(prefetched_, {}).window;
  parts_.exchanges.waited_since(start);
  auto& window = windows_[g.number];
  if (parts_.form.plain()) {
    window = std::move(together);
  } else {
    window = Block(parts_.memory, Held::windows, g.whole.size() * size_of(parts_.form.real));
    parts_.form.to_real(together.data(), g.whole, window.data());
  }
  ++uses_;
  return window.data();
}

void WeightWindows::start_gather(DividedGroup& g, std::string_view what) {
  prefetched_.gather.advance(true);  // if the network did not use the prefetched module
  prefetched_.group = &g;
  prefetched_.window = Block(parts_.memory, Held::windows, parts_.form.bytes(g.whole));
  std::byte* together = prefetched_.window.data();
  parts_.form.put(parts_.weights_of(g), parts_.share(g, g.weights_depth), g.whole, together);
  if (parts_.partition.codecs.gather != WeightCodec::none)
    gather_in_few_bits(g, together, what);
  else
    parts_.form.start_gather(prefetched_.gather, together, g.whole, g.weights_depth, parts_.wires, what);
}

/// Gathers a module's weights by encoded messages: every rank computes with the decoded values, also for its own part.
void WeightWindows::gather_in_few_bits(DividedGroup& g, std::byte* together, std::string_view what) {
  const DType kept = parts_.form.kept;
  std::vector<float> own(parts_.share(g, g.weights_depth).size());
  to_floats(parts_.weights_of(g), kept, own);
  gather_coded(own, g.whole, g.weights_depth, 0, parts_.partition.codecs.gather, parts_.exchanges.address(g.number, 2),
               parts_.wires, what, [&](Interval part, std::span<const float> numbers) {
                 from_floats(numbers, kept, together + (part.begin - g.whole.begin) * size_of(kept));
               });
}

/// Starts to gather the group used after this one. The last module of the forward pass is the first one of the backward
/// pass: it is gathered again when its window is free.
void WeightWindows::prefetch_after(const DividedGroup& g, bool released) {
  const int n = static_cast<int>(divided_.size());
  const bool turn = uses_ == n, next_slice = uses_ == 2 * n && slice_ + 1 < slices_;
  if (!parts_.partition.prefetch || !parts_.settings.overlap) return;
  if (g.weights_depth == 0 || prefetched_.group || turn != released) return;
  if (next_slice)
    start_gather(*divided_.front(), "gather forward");
  else if (uses_ < n)
    start_gather(*divided_[uses_], "gather forward");
  else if (uses_ < 2 * n)
    start_gather(*divided_[2 * n - 1 - uses_], "gather backward");
}

}  // namespace cambium::train
