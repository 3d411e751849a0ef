#include "core/codec/fields/enhancer.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::lowp {

std::vector<std::byte> Enhancer::bytes() const {
  ByteWriter out;
  out.put(helpers);
  out.put(slope);
  out.put(static_cast<std::uint8_t>(stages.size()));
  for (const auto& stage : stages) stage.put(out);
  return out.take();
}

Enhancer Enhancer::from(std::span<const std::byte> bytes) try {
  ByteReader in(bytes);
  Enhancer e;
  e.helpers = in.get<std::uint8_t>();
  e.slope = in.get<float>();
  const int stages = in.get<std::uint8_t>();
  if (e.helpers > most_helpers || stages < 1 || stages > most_stages) throw DamagedStream{};
  for (int k = 0; k < stages; ++k) e.stages.push_back(EnhancerStage::from(in));
  if (!in.rest().empty()) throw DamagedStream{};
  return e;
} catch (const DamagedStream&) {
  throw InputError("the weights of an enhancer are damaged; copy the file again from its source");
}

template <class T>
Correction<T>::Correction(std::span<const T> decoded, const FieldShape& shape, double bound,
                          std::span<const HelpingField<T>> helping)
    : decoded_(decoded), shape_(shape), bound_(bound), helping_(helping), field_(decoded.begin(), decoded.end()),
      correction_(decoded.size(), 0.0f) {
  for (const auto& h : helping)
    if (h.values.size() != decoded.size() || !(h.bound > 0)) throw DamagedStream{};
}

template <class T>
std::vector<ScaledField> Correction<T>::sources(int reach) const {
  std::vector<ScaledField> out;
  out.emplace_back(field_.data(), shape_, bound_, reach);
  for (const auto& h : helping_) out.emplace_back(h.values.data(), shape_, h.bound, reach);
  return out;
}

template <class T>
void Correction<T>::add(const EnhancerStage& stage, std::span<const ScaledField> scaled) {
  const auto groups = groups_of<T>(field_, stage.edges);
  const auto more = stage.corrections(groups, shape_, scaled);
  const T step = static_cast<T>(bound_);
  constexpr float most = Enhancer::largest;
  for (std::size_t k = 0; k < field_.size(); ++k) {
    const float wanted = correction_[k] + more[k];
    correction_[k] = wanted > most ? most : wanted > -most ? wanted : -most;
    const T corrected = decoded_[k] + static_cast<T>(correction_[k]) * step;
    if (std::isfinite(corrected)) field_[k] = corrected;
  }
}

template <class T>
std::vector<float> Correction<T>::missing(std::span<const T> original) const {
  std::vector<float> out(field_.size());
  for (std::size_t k = 0; k < field_.size(); ++k) {
    const double d = (static_cast<double>(original[k]) - static_cast<double>(field_[k])) / bound_;
    // Nothing to learn if the decoder holds a value exactly, or the field is not finite.
    out[k] = std::abs(d) <= 2.0 ? static_cast<float>(d) : 0.0f;
  }
  return out;
}

template <class T>
void Enhancer::apply(std::span<T> field, const FieldShape& shape, double bound,
                     std::span<const HelpingField<T>> helping) const {
  if (helping.size() != helpers) throw DamagedStream{};
  Correction<T> correction(field, shape, bound, helping);
  for (const auto& stage : stages) correction.add(stage, correction.sources(stage.reach));
  std::copy(correction.field().begin(), correction.field().end(), field.begin());
}

#define CAMBIUM_ENHANCER_OF(T)  \
  template class Correction<T>; \
  template void Enhancer::apply<T>(std::span<T>, const FieldShape&, double, std::span<const HelpingField<T>>) const;
CAMBIUM_ENHANCER_OF(float)
CAMBIUM_ENHANCER_OF(double)
#undef CAMBIUM_ENHANCER_OF

}  // namespace cambium::lowp
