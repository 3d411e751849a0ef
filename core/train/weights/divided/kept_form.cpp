#include "core/train/weights/divided/kept_form.hpp"

#include <algorithm>
#include <bit>

namespace cambium::train {

std::int64_t KeptForm::bytes(Interval part) const {
  return packed ? packed->byte_of(part.end) - packed->byte_of(part.begin) : part.size() * size_of(kept);
}

void KeptForm::to_real(const std::byte* from, Interval part, std::byte* to) const {
  if (packed)
    return packed->unpack({from, static_cast<std::size_t>(bytes(part))}, part.begin, part.end,
                          reinterpret_cast<float*>(to));
  if (kept == real) {
    std::copy_n(from, bytes(part), to);
    return;
  }
  for (std::int64_t k = 0; k < part.size(); ++k)
    reinterpret_cast<float*>(to)[k] = static_cast<float>(reinterpret_cast<const Bf16*>(from)[k]);
}

void KeptForm::to_kept(const std::byte* from, Interval part, std::byte* to) const {
  if (packed) {
    packed->pack(reinterpret_cast<const float*>(from), part.begin, part.end, 0, 0, true,
                 {to, static_cast<std::size_t>(bytes(part))});
    return;
  }
  if (kept == real) {
    std::copy_n(from, bytes(part), to);
    return;
  }
  for (std::int64_t k = 0; k < part.size(); ++k)
    reinterpret_cast<Bf16*>(to)[k].bits =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(reinterpret_cast<const float*>(from)[k]) >> 16);
}

void KeptForm::put(const std::byte* mine, Interval part, Interval whole, std::byte* together) const {
  std::copy_n(mine, bytes(part), together + bytes({whole.begin, part.begin}));
}

void KeptForm::gather(std::byte* values, Interval whole, int from, int to, const Wires& wires,
                      std::string_view what) const {
  if (packed)
    gather_packed(
        values, whole, from, to, [this](std::int64_t e) { return packed->byte_of(e); }, wires, what);
  else
    gather_levels(values, whole, from, to, kept, wires, what);
}

void KeptForm::start_gather(LevelGather& gather, std::byte* values, Interval whole, int from, const Wires& wires,
                            std::string_view what) const {
  if (packed)
    gather.start_packed(
        values, whole, from, 0, [this](std::int64_t e) { return packed->byte_of(e); }, wires, what);
  else
    gather.start(values, whole, from, 0, kept, wires, what);
}

}  // namespace cambium::train
