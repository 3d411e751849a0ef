#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/cf/axis.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/cf/time_unit.hpp"
#include "core/io/cf/variable.hpp"

namespace cambium::io::cf {

/// Names inside a file.
struct FieldNames {
  std::string array;
  std::string time;               ///< empty: the coordinate that measures time
  std::vector<std::string> axes;  ///< empty: as in the file; else coordinates of the other axes, in their order
  DecodingOptions decoding;
};

/// A variable over space and, if it has times, over time: an array (time, axes...). Its dimensions may have any order
/// in the file: time comes first here, those of length 1 are dropped, the others keep their order. Values are unpacked;
/// those that the file marks as missing are NaN.
class Field {
 public:
  /// InputError when the array or its times are missing, or an attribute contradicts another.
  static Field open(const std::string& path, const FieldNames& names);
  /// A field without times, such as a mask: a time dimension must have length 1 and is dropped.
  static Field open_still(const std::string& path, const FieldNames& names);

  const std::string& path() const { return container_->path(); }
  const std::string& array() const { return names_.array; }
  /// (times, axes...); without times of a field that was opened so.
  std::vector<std::int64_t> shape() const;
  const std::string& unit() const { return unit_; }  ///< empty for "1"
  const std::vector<double>& times() const { return times_; }
  const TimeUnit& time_unit() const { return time_unit_; }
  const std::vector<Axis>& axes() const { return axes_; }
  /// The axis of a role; none if there is none.
  std::optional<std::size_t> axis(Role role) const;
  /// The name of a coordinate over several dimensions that measures this (curvilinear grids); else empty.
  std::string curved(Role role) const;
  /// The name of a coordinate that measures this along an axis; of an axis without a role these are places of a list
  /// (stations, cells of an unstructured grid). Empty if there is none.
  std::string listed(Role role) const;

  /// Extents of the chunks in the file, by the axes of shape(); empty if it has none.
  std::vector<std::int64_t> chunk() const;
  /// The block of shape() that starts at `start`, row-major.
  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, double* out) const;

 private:
  Field(const std::string& path, const FieldNames& names);
  /// A one-dimensional variable that could be a coordinate.
  struct Candidate {
    std::unique_ptr<Variable> variable;
    std::string dimension;
    std::int64_t length;
    Role role;
  };
  void collect_candidates();
  std::unique_ptr<Variable> beside(const std::string& name) const;
  void find_time();
  std::unique_ptr<Variable> time_variable() const;
  void read_times(const Variable& variable);
  void find_axes();
  void name_axes();
  const Candidate* candidate_for(std::size_t dimension) const;
  const Candidate* unnamed_candidate(std::size_t dimension) const;
  void drop_single();
  void note_places();

  FieldNames names_;
  std::unique_ptr<Container> container_;
  std::unique_ptr<Variable> variable_;
  std::optional<Decoding> decoding_;
  std::vector<std::int64_t> file_shape_;
  std::vector<std::string> dimensions_;
  std::vector<Candidate> candidates_;
  std::map<Role, std::string> places_;         ///< names of coordinates along an axis
  std::optional<std::size_t> time_dimension_;  ///< of the file
  std::vector<std::size_t> axis_dimensions_;   ///< of the file, for each of axes_
  bool still_ = false;
  std::string unit_;
  std::vector<double> times_;
  TimeUnit time_unit_;
  std::vector<Axis> axes_;
};

/// InputError, naming both files, if two fields do not have the same axes: other lengths, other values, or another
/// order. `what` describes the first ("the mask").
void require_same_axes(const Field& field, const Field& other, const std::string& what);

}  // namespace cambium::io::cf
