#include "bench/task_bench/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/parallel/random.hpp"

namespace cambium::task_bench {

std::span<const DependenceName> dependence_names() {
  static constexpr std::array<DependenceName, 11> names{{{"trivial", Dependence::trivial},
                                                         {"no_comm", Dependence::no_comm},
                                                         {"stencil_1d", Dependence::stencil_1d},
                                                         {"stencil_1d_periodic", Dependence::stencil_1d_periodic},
                                                         {"dom", Dependence::dom},
                                                         {"tree", Dependence::tree},
                                                         {"fft", Dependence::fft},
                                                         {"all_to_all", Dependence::all_to_all},
                                                         {"nearest", Dependence::nearest},
                                                         {"spread", Dependence::spread},
                                                         {"random_nearest", Dependence::random_nearest}}};
  return names;
}

std::int64_t Pattern::offset(std::int64_t step) const {
  return dependence == Dependence::dom ? std::max<std::int64_t>(0, step + width - steps) : 0;
}

std::int64_t Pattern::points(std::int64_t step) const {
  if (dependence == Dependence::dom) return std::min({width, step + 1, steps - step});
  if (dependence == Dependence::tree) return step < 62 ? std::min(width, std::int64_t{1} << step) : width;
  return width;
}

static std::int64_t doublings(std::int64_t width) {
  std::int64_t out = 0;
  while ((std::int64_t{1} << out) < width) ++out;
  return out;
}

std::int64_t Pattern::sets() const {
  if (dependence == Dependence::fft) return std::max<std::int64_t>(1, doublings(width));
  return dependence == Dependence::spread || dependence == Dependence::random_nearest ? period : 1;
}

std::int64_t Pattern::set_at(std::int64_t step) const {
  return dependence == Dependence::fft ? (step + sets() - 1) % sets() : step % sets();
}

/// A draw of our own: the published program hashes, too, but other bytes.
static bool keeps(const Pattern& p, std::int64_t set, std::int64_t from, std::int64_t to) {
  const auto id = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
  const auto where = static_cast<std::uint64_t>(p.graph) << 32 | static_cast<std::uint64_t>(set);
  return from == to || Random4(static_cast<std::uint64_t>(p.radix), Stream::test, id, where).uniform(0) < p.fraction;
}

std::vector<std::int64_t> Pattern::of_set(std::int64_t set, std::int64_t p) const {
  std::vector<std::int64_t> out;
  const auto add = [&](std::int64_t q) {
    if (q >= 0 && q < width && std::find(out.begin(), out.end(), q) == out.end()) out.push_back(q);
  };
  const auto add_range = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t q = first; q <= last; ++q) add(q);
  };
  switch (dependence) {
    case Dependence::trivial:
      break;
    case Dependence::no_comm:
      add(p);
      break;
    case Dependence::stencil_1d:
      add_range(p - 1, p + 1);
      break;
    case Dependence::stencil_1d_periodic:
      for (const std::int64_t q : {p - 1, p, p + 1}) add((q + width) % width);
      break;
    case Dependence::dom:
      add_range(p - 1, p);
      break;
    case Dependence::tree:
      add(p / 2);
      break;
    case Dependence::fft:
      for (const std::int64_t q : {p - (std::int64_t{1} << set), p, p + (std::int64_t{1} << set)}) add(q);
      break;
    case Dependence::all_to_all:
      add_range(0, width - 1);
      break;
    case Dependence::nearest:
      add_range(p - radix / 2, p + (radix - 1) / 2);
      break;
    case Dependence::spread:
      for (std::int64_t i = 0; i < radix; ++i) add((p + i * width / radix + (i > 0 ? set : 0)) % width);
      break;
    case Dependence::random_nearest:
      for (std::int64_t q = p - radix / 2; q <= p + (radix - 1) / 2; ++q)
        if (keeps(*this, set, q, p)) add(q);
      break;
  }
  return out;
}

std::vector<std::int64_t> Pattern::inputs(std::int64_t step, std::int64_t point) const {
  if (step == 0) return {};
  std::vector<std::int64_t> out = of_set(set_at(step), point);
  std::erase_if(out, [&](std::int64_t q) { return !exists(step - 1, q); });
  return out;
}

std::int64_t Pattern::tasks() const {
  std::int64_t out = 0;
  for (std::int64_t t = 0; t < steps; ++t) out += points(t);
  return out;
}

std::int64_t Pattern::dependencies() const {
  std::int64_t out = 0;
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t p = offset(t); p < offset(t) + points(t); ++p) out += std::ssize(inputs(t, p));
  return out;
}

std::string Pattern::problem() const {
  if (width < 1 || steps < 1) return fmt::format("width is {} and steps {}; give 1 or more", width, steps);
  const bool with_radix =
      dependence == Dependence::nearest || dependence == Dependence::spread || dependence == Dependence::random_nearest;
  if (with_radix && (radix < 1 || radix > width))
    return fmt::format("radix is {}; give 1 to the width, {}", radix, width);
  if (period < 1) return fmt::format("period is {}; give 1 or more", period);
  if (dependence == Dependence::spread && period > (width + radix - 1) / radix)
    return fmt::format("period is {}; spread with width {} and radix {} takes 1 to {}", period, width, radix,
                       (width + radix - 1) / radix);
  return {};
}

}  // namespace cambium::task_bench
