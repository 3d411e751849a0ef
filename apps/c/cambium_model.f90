! Trained models (model.h5) from Fortran, by the functions of cambium_model.h. Compile this file with your own compiler
! and link libcambium_train:
!     gfortran cambium_model.f90 simulation.f90 $(pkg-config --libs cambium-train)
! Arrays keep Fortran's order: x(samples, numbers) for fields whose samples are lists of numbers, x(samples) for single
! numbers. Every function returns cambium_done or another code; cambium_message() then says what is wrong.
module cambium_model
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: cambium_open, cambium_close, cambium_input, cambium_output, cambium_infer, cambium_message, cambium_samples
  public :: cambium_infer_arrays, cambium_array, cambium_field

  integer(c_int), parameter, public :: cambium_done = 0, cambium_bad_input = 2, cambium_numerical_failure = 4, &
      cambium_internal_error = 70
  integer(c_int), parameter, public :: cambium_float64 = 0, cambium_float32 = 1, cambium_int64 = 3, cambium_int32 = 4

  ! An open model: pass it on, do not look inside.
  type, public :: cambium_model_t
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! As the struct of cambium_array.h.
  type, bind(c) :: cambium_array
    type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr, data = c_null_ptr
    integer(c_int) :: type = 0, rank = 0
    integer(c_int64_t) :: shape(6) = 0, stride(6) = 0
  end type

  type, bind(c) :: c_field
    type(c_ptr) :: name, unit
    integer(c_int) :: rank
    integer(c_int64_t) :: shape(6)
  end type

  ! What a model reads or answers for one sample; -1 where samples may differ.
  type :: cambium_field
    character(len=:), allocatable :: name, unit
    integer(c_int64_t), allocatable :: shape(:)
  end type

  ! An array of the caller for cambium_infer_arrays: samples first.
  interface cambium_samples
    module procedure samples_1, samples_2
  end interface

  ! The answers of a model with one input and one output.
  interface cambium_infer
    module procedure infer_1_1, infer_2_1, infer_2_2
  end interface

  interface
    integer(c_int) function c_open(path, model) bind(c, name="cambium_model_open")
      import c_int, c_char, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: model
    end function
    subroutine c_close(model) bind(c, name="cambium_model_close")
      import c_ptr
      type(c_ptr), value :: model
    end subroutine
    integer(c_int) function c_inputs(model, fields, room, count) bind(c, name="cambium_model_inputs")
      import c_int, c_ptr, c_field
      type(c_ptr), value :: model
      type(c_field), intent(out) :: fields(*)
      integer(c_int), value :: room
      integer(c_int), intent(out) :: count
    end function
    integer(c_int) function c_outputs(model, fields, room, count) bind(c, name="cambium_model_outputs")
      import c_int, c_ptr, c_field
      type(c_ptr), value :: model
      type(c_field), intent(out) :: fields(*)
      integer(c_int), value :: room
      integer(c_int), intent(out) :: count
    end function
    integer(c_int) function c_infer(model, inputs, input_count, outputs, output_count) bind(c, name="cambium_model_infer")
      import c_int, c_ptr, cambium_array
      type(c_ptr), value :: model
      type(cambium_array), intent(in) :: inputs(*), outputs(*)
      integer(c_int), value :: input_count, output_count
    end function
    type(c_ptr) function c_message() bind(c, name="cambium_model_message")
      import c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  integer(c_int) function cambium_open(path, model) result(code)
    character(len=*), intent(in) :: path
    type(cambium_model_t), intent(out) :: model
    code = c_open(path // c_null_char, model%handle)
  end function

  subroutine cambium_close(model)
    type(cambium_model_t), intent(inout) :: model
    call c_close(model%handle)
    model%handle = c_null_ptr
  end subroutine

  ! Field `number`, counted from 1, that the model reads.
  integer(c_int) function cambium_input(model, number, field) result(code)
    type(cambium_model_t), intent(in) :: model
    integer, intent(in) :: number
    type(cambium_field), intent(out) :: field
    type(c_field) :: fields(number)
    integer(c_int) :: count
    code = c_inputs(model%handle, fields, int(number, c_int), count)
    if (code == cambium_done .and. number > count) code = cambium_bad_input
    if (code == cambium_done) field = field_of(fields(number))
  end function

  ! Field `number`, counted from 1, that it answers.
  integer(c_int) function cambium_output(model, number, field) result(code)
    type(cambium_model_t), intent(in) :: model
    integer, intent(in) :: number
    type(cambium_field), intent(out) :: field
    type(c_field) :: fields(number)
    integer(c_int) :: count
    code = c_outputs(model%handle, fields, int(number, c_int), count)
    if (code == cambium_done .and. number > count) code = cambium_bad_input
    if (code == cambium_done) field = field_of(fields(number))
  end function

  ! Any number of inputs and outputs; names as cambium_input and cambium_output say.
  integer(c_int) function cambium_infer_arrays(model, inputs, outputs) result(code)
    type(cambium_model_t), intent(in) :: model
    type(cambium_array), intent(in) :: inputs(:), outputs(:)
    code = c_infer(model%handle, inputs, size(inputs, kind=c_int), outputs, size(outputs, kind=c_int))
  end function

  integer(c_int) function infer_1_1(model, x, y) result(code)
    type(cambium_model_t), intent(in) :: model
    real(c_double), contiguous, target, intent(in) :: x(:)
    real(c_double), contiguous, target, intent(inout) :: y(:)
    code = cambium_infer_arrays(model, [samples_1(x)], [samples_1(y)])
  end function

  integer(c_int) function infer_2_1(model, x, y) result(code)
    type(cambium_model_t), intent(in) :: model
    real(c_double), contiguous, target, intent(in) :: x(:, :)
    real(c_double), contiguous, target, intent(inout) :: y(:)
    code = cambium_infer_arrays(model, [samples_2(x)], [samples_1(y)])
  end function

  integer(c_int) function infer_2_2(model, x, y) result(code)
    type(cambium_model_t), intent(in) :: model
    real(c_double), contiguous, target, intent(in) :: x(:, :)
    real(c_double), contiguous, target, intent(inout) :: y(:, :)
    code = cambium_infer_arrays(model, [samples_2(x)], [samples_2(y)])
  end function

  ! `name`: ends in c_null_char and outlives the array; left out, the array is the only one.
  type(cambium_array) function samples_1(values, name) result(array)
    real(c_double), contiguous, target, intent(in) :: values(:)
    character(kind=c_char, len=*), target, intent(in), optional :: name
    if (present(name)) array%name = c_loc(name)
    array%data = c_loc(values)
    array%type = cambium_float64
    array%rank = 1
    array%shape(1) = size(values, kind=c_int64_t)
    array%stride(1) = 1
  end function

  type(cambium_array) function samples_2(values, name) result(array)
    real(c_double), contiguous, target, intent(in) :: values(:, :)
    character(kind=c_char, len=*), target, intent(in), optional :: name
    if (present(name)) array%name = c_loc(name)
    array%data = c_loc(values)
    array%type = cambium_float64
    array%rank = 2
    array%shape(1:2) = shape(values, kind=c_int64_t)
    array%stride(1:2) = [1_c_int64_t, size(values, 1, kind=c_int64_t)]
  end function

  ! What the last call that failed had to say.
  function cambium_message() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_message())
  end function

  function field_of(from) result(field)
    type(c_field), intent(in) :: from
    type(cambium_field) :: field
    field%name = text_of(from%name)
    field%unit = text_of(from%unit)
    allocate (field%shape(from%rank))
    field%shape(:) = from%shape(1:from%rank)
  end function

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: k
    call c_f_pointer(pointer, letters, [c_length(pointer)])
    allocate (character(len=size(letters)) :: text)
    do k = 1, size(letters)
      text(k:k) = letters(k)
    end do
  end function

end module
