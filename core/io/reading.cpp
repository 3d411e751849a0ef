#include "core/io/reading.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::io {

void reading(const std::string& path, const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError&) {
    throw;
  } catch (const NumericalError&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(
        fmt::format("'{}' is damaged or was changed: what it holds does not fit together ({}); copy it again from its "
                    "source, or use another one",
                    path, error.what()));
  }
}

}  // namespace cambium::io
