#pragma once
#include <optional>
#include <string>

namespace cambium::superres {

/// What a file of fields states about its flow: the attributes Rayleigh and Prandtl (ours, and The Well's) and plates
/// (ours). Files of other programs may have none.
struct StatedFlow {
  std::string path;
  std::optional<double> rayleigh, prandtl;
  std::optional<std::string> plates;
  bool section = false;  ///< through a flow in three dimensions

  /// InputError for a file of no layout that FieldFile reads.
  static StatedFlow of(const std::string& path);
  /// KeyError naming section + "rayleigh", "prandtl" or "plates" if the file states another one than the deck's.
  void require_rayleigh(double of_deck, const std::string& section = "") const;
  void require_prandtl(double of_deck, const std::string& section = "") const;
  /// Prandtl number: that of the deck, which must be the file's if both have one; else that of the file, or 1.
  double prandtl_of(const std::optional<double>& of_deck, const std::string& section = "") const;
  /// KeyError naming `key` for a section, whose flow the equations in two dimensions do not continue.
  void require_plane(const std::string& key, const std::string& advice) const;
  void require_plates(const std::string& of_deck, const std::string& section = "") const;
};

}  // namespace cambium::superres
