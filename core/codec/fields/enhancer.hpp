#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/codec/fields/stage.hpp"

namespace cambium::lowp {

/// A decoded field that helps another one of the same shape, and the absolute bound it was encoded with.
template <class T>
struct HelpingField {
  std::span<const T> values;
  double bound = 0.0;
};

/// Enhancer: brings a decoded field nearer to the original, after GWLZ (Jia et al., arXiv:2404.13470): small networks,
/// one per group of values, fitted to the difference between original and decoded field during encoding. Here groups
/// hold equal numbers of values, and networks form stages, each of which takes the output of the previous one.
struct Enhancer {
  static constexpr int most_stages = 8, most_helpers = 3;
  /// Largest correction as a fraction of the bound, which limits the damage of a wrong one.
  static constexpr float largest = 0.75f;

  std::uint8_t helpers = 0;  ///< fields that help, besides the one that is corrected
  float slope = 12.0f;       ///< dB that the plain codec gains when its stream becomes e times longer, as measured
  std::vector<EnhancerStage> stages;

  std::vector<std::byte> bytes() const;
  /// InputError if they are not an enhancer, or a damaged one.
  static Enhancer from(std::span<const std::byte> bytes);

  /// Corrects `field`, which was decoded with the absolute bound `bound`; non-finite values are unchanged. Bitwise
  /// identical on every machine. Throws DamagedStream if the weights are for another number of dimensions or helpers.
  template <class T>
  void apply(std::span<T> field, const FieldShape& shape, double bound,
             std::span<const HelpingField<T>> helping = {}) const;
};

/// The field between the stages of an enhancer: decoded values, and the correction so far.
template <class T>
class Correction {
 public:
  Correction(std::span<const T> decoded, const FieldShape& shape, double bound,
             std::span<const HelpingField<T>> helping);
  /// Sources of a stage of this reach: the corrected field, then those that help.
  std::vector<ScaledField> sources(int reach) const;
  /// Adds the corrections of a stage.
  void add(const EnhancerStage& stage, std::span<const ScaledField> scaled);
  std::span<const T> field() const { return field_; }
  /// (original - corrected) in units of the bound; zero where either is not finite.
  std::vector<float> missing(std::span<const T> original) const;

 private:
  std::span<const T> decoded_;
  FieldShape shape_;
  double bound_;
  std::span<const HelpingField<T>> helping_;
  std::vector<T> field_;
  std::vector<float> correction_;
};

}  // namespace cambium::lowp
