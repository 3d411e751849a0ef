#pragma once
#include <exception>
#include <string>
#include <vector>

#include "apps/c/cambium_array.h"
#include "core/base/error.hpp"
#include "core/train/data/memory_set.hpp"

namespace cambium::c {

/// Message of the last failed call of this thread, like errno, since C has no exceptions.
inline thread_local std::string last_message;

/// Runs `action` and turns its exception into a code: none crosses into C.
template <class F>
int guarded(F&& action) {
  try {
    action();
    return CAMBIUM_DONE;
  } catch (const InputError& error) {
    last_message = error.what();
    return CAMBIUM_BAD_INPUT;
  } catch (const NumericalError& error) {
    last_message = error.what();
    return CAMBIUM_NUMERICAL_FAILURE;
  } catch (const std::exception& error) {
    last_message = error.what();
    return CAMBIUM_INTERNAL_ERROR;
  }
}

/// Views of the caller's arrays. InputError for a number of axes or a type that there is not.
inline std::vector<train::HostArray> arrays_of(const cambium_array* arrays, int count) {
  std::vector<train::HostArray> out;
  for (int k = 0; k < count; ++k) {
    const cambium_array& from = arrays[k];
    train::HostArray to{from.name ? from.name : "", {}, from.unit ? from.unit : ""};
    if (from.rank < 1 || from.rank > 6)
      throw InputError("array '" + to.name + "' has " + std::to_string(from.rank) + " axes; give 1 to 6");
    if (from.type < 0 || from.type > CAMBIUM_UINT8)
      throw InputError("array '" + to.name + "' has the type " + std::to_string(from.type) +
                       ", which is none; use CAMBIUM_FLOAT64 and its like");
    to.values.data = from.data;
    to.values.dtype = static_cast<DType>(from.type);
    to.values.rank = from.rank;
    for (int axis = 0; axis < from.rank; ++axis) {
      to.values.shape[axis] = from.shape[axis];
      to.values.stride[axis] = from.stride[axis];
    }
    out.push_back(std::move(to));
  }
  return out;
}

}  // namespace cambium::c
