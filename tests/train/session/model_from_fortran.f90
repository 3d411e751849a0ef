! A trained model with one list of numbers in and one out: model_from_fortran MODEL < inputs > answers, as model_from_c.
program model_from_fortran
  use, intrinsic :: iso_c_binding
  use cambium_model
  implicit none
  type(cambium_model_t) :: model
  type(cambium_field) :: input, output
  real(c_double), allocatable :: x(:, :), y(:, :)
  character(len=1000) :: path
  integer :: samples, k
  call get_command_argument(1, path)
  if (cambium_open("nowhere.h5", model) /= cambium_bad_input) error stop "a file that is not there was opened"
  if (index(cambium_message(), "nowhere.h5") == 0) error stop "the message does not name the file"
  call done(cambium_open(trim(path), model))
  call done(cambium_input(model, 1, input))
  call done(cambium_output(model, 1, output))
  read *, samples
  allocate (x(samples, product(input%shape)), y(samples, product(output%shape)))
  do k = 1, samples
    read *, x(k, :)
  end do
  call done(cambium_infer(model, x, y))
  do k = 1, samples
    print '(*(es27.17e3))', y(k, :)
  end do
  if (cambium_infer(model, x(:, :1), y) /= cambium_bad_input) error stop "samples of another width were taken"
  call cambium_close(model)
contains
  subroutine done(code)
    integer(c_int), intent(in) :: code
    if (code == cambium_done) return
    print *, cambium_message()
    error stop
  end subroutine
end program
