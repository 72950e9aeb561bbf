"""The headers above a quote as mail programs write them in many languages: sender, date, recipient and subject."""

from collections.abc import Mapping
from typing import Final

LABELS: Final[Mapping[str, tuple[tuple[str, str, str, str], str]]] = {
    "Arabic": (("من", "تم الإرسال", "إلى", "الموضوع"), "٢١ نوفمبر ٢٠٢٦ ٠٩:١٤ ص"),
    "Bulgarian": (("От", "Изпратено", "До", "Относно"), "събота, 21 ноември 2026 г. 09:14"),
    "Chinese": (("发件人", "发送时间", "收件人", "主题"), "2026年11月21日 9:14"),
    "Chinese, traditional": (("寄件者", "寄件日期", "收件者", "主旨"), "2026年11月21日 上午 09:14"),
    "Croatian": (("Od", "Poslano", "Prima", "Predmet"), "21. studenoga 2026. 09:14"),
    "Czech": (("Od", "Odesláno", "Komu", "Předmět"), "sobota 21. listopadu 2026 9:14"),
    "Danish": (("Fra", "Sendt", "Til", "Emne"), "21. november 2026 09:14"),
    "Estonian": (("Saatja", "Saadetud", "Adressaat", "Teema"), "laupäev, 21. november 2026 09:14"),
    "Finnish": (("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"), "lauantai 21. marraskuuta 2026 9.14"),
    "Greek": (("Από", "Στάλθηκε", "Προς", "Θέμα"), "Σάββατο, 21 Νοεμβρίου 2026 9:14 πμ"),
    "Hebrew": (("מאת", "נשלח", "אל", "נושא"), "יום שבת 21 נובמבר 2026 09:14"),
    "Hindi": (("प्रेषक", "भेजा गया", "प्रति", "विषय"), "शनिवार, 21 नवंबर 2026 09:14"),
    "Hungarian": (("Feladó", "Elküldve", "Címzett", "Tárgy"), "2026. november 21., szombat 9:14"),
    "Indonesian": (("Dari", "Dikirim", "Kepada", "Subjek"), "Sabtu, 21 November 2026 09.14"),
    "Korean": (("보낸 사람", "보낸 날짜", "받는 사람", "제목"), "2026년 11월 21일 토요일 오전 9:14"),
    "Latvian": (("No", "Nosūtīts", "Kam", "Temats"), "sestdiena, 2026. gada 21. novembris 09:14"),
    "Lithuanian": (("Nuo", "Išsiųsta", "Kam", "Tema"), "2026 m. lapkričio 21 d., šeštadienis 09:14"),
    "Norwegian": (("Fra", "Sendt", "Til", "Emne"), "lørdag 21. november 2026 09:14"),
    "Persian": (("از", "ارسال‌شده", "به", "موضوع"), "۳۰ آبان ۱۴۰۵ ۰۹:۱۴"),
    "Polish": (("Od", "Wysłano", "Do", "Temat"), "sobota, 21 listopada 2026 09:14"),
    "Romanian": (("De la", "Trimis", "Către", "Subiect"), "sâmbătă, 21 noiembrie 2026 09:14"),
    "Russian": (("От", "Отправлено", "Кому", "Тема"), "21 ноября 2026 г. 9:14"),
    "Slovak": (("Od", "Odoslané", "Komu", "Predmet"), "sobota 21. novembra 2026 9:14"),
    "Slovenian": (("Od", "Poslano", "Za", "Zadeva"), "sobota, 21. november 2026 09:14"),
    "Swedish": (("Från", "Skickat", "Till", "Ämne"), "den 21 november 2026 09:14"),
    "Swahili": (("Kutoka kwa", "Imetumwa", "Kwenda kwa", "Mada"), "Jumamosi, 21 Novemba 2026 09:14"),
    "Thai": (("จาก", "ส่ง", "ถึง", "เรื่อง"), "21 พฤศจิกายน 2569 9:14"),
    "Turkish": (("Kimden", "Gönderildi", "Kime", "Konu"), "21 Kasım 2026 Cumartesi 09:14"),
    "Ukrainian": (("Від", "Надіслано", "Кому", "Тема"), "субота, 21 листопада 2026 р. 09:14"),
    "Vietnamese": (("Từ", "Đã gửi", "Tới", "Chủ đề"), "Thứ Bảy, 21 tháng 11, 2026 9:14 SA"),
}
"""The labels of each language, and how it writes a date."""


def lines_of(language: str, sender: str, recipient: str, subject: str = "Bid!") -> list[str]:
    """The headers of an email in a language."""
    labels, date = LABELS[language]
    return [f"{label}: {value}" for label, value in zip(labels, (sender, date, recipient, subject), strict=True)]
