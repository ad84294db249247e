"""What every expected error is: something outside the program is not as it must be; one sentence says what to do."""


class CourseError(Exception):
    """The base of expected errors: the command line shows the sentence, without a traceback, and exits with 2."""
